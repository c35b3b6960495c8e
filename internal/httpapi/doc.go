// Package httpapi is the HTTP API of a node, for people, the command line and
// other languages: its JSON objects, the server over any [Backend], and the
// client of the command line.
//
//	POST   /v1/acquire         one key, or many in "keys"
//	POST   /v1/renew           many tenures of one owner
//	POST   /v1/release         many tenures of one owner
//	POST   /v1/forget          one tenure
//	GET    /v1/leases/{key}    a key's record, linearizable
//	GET    /v1/leases          a page of records: prefix, owner, limit, cursor
//	GET    /v1/watch           server-sent events: prefix or key
//	GET    /v1/status          what the node knows
//	GET    /v1/members         the cluster's nodes
//	POST   /v1/members         lets a node join
//	DELETE /v1/members/{id}    removes a node
//	POST   /v1/transfer        hands leadership over
//	GET    /healthz            the process is up
//	GET    /readyz             the node can serve
//
// # Requests
//
// A request is read strictly, because a value that is passed over, or changed
// on the way, would be about another tenure than the caller means. The body is
// one JSON object in UTF-8 of at most 8 MiB. Field names match exactly and come
// once; an unknown one, a null, a lone surrogate, a fraction or anything after
// the object is refused. An unknown query parameter is refused as well. A key or
// id in a path is percent-encoded and then taken byte for byte: paths are not
// cleaned, so that the keys "a//b" and ".." have an address.
//
// A refusal of the whole request names the field, the value and the bound, and
// nothing was changed. Where a request has many items each has its own result:
// one that is malformed, held or lost never spoils its neighbours.
//
// A request is given up, and what was not proposed yet is withdrawn, when its
// connection ends, [Allowance] after the longest wait that it asks for, or when
// the time in its [TimeoutHeader] is over, whichever comes first. Only in the
// first case does the caller learn nothing of the outcome.
//
// # Browsers
//
// The API is for programs, and on loopback it is reachable from any page that
// a browser on the machine shows. Such a page can't use it: a request with an
// Origin header is refused, which a browser adds to everything that could
// change something and to everything whose answer a page of another site could
// read. A page that resolves its own name to a loopback address (DNS rebinding)
// is of the same site, so over a loopback connection the Host header must be an
// IP address, a name without a dot, or one of [Config].Hosts.
package httpapi
