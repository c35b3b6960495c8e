// Package replica is one process of a fleet that keeps tenants' ledgers: an
// embedded node and holder of the lease cluster, the ledgers that they give this
// process the right to write, and an HTTP API.
//
// Every tenant is a key. A replica appends to a tenant's ledger only while it
// holds the tenant's lease, and acknowledges only through the lease's gate. A
// request for a tenant that another replica owns is passed on to that one, at
// most one hop, by a lookup in the embedded node.
//
// # Who serves which tenant
//
// Each replica holds the key replica/NAME for as long as it runs. All see who
// holds such a key, and so who is alive. By rendezvous hashing every tenant has
// an order of all replicas of the fleet; the first of them that is alive is its
// home. A replica stands in line for the tenants whose home it is, and asks
// their present owner to hand them over. An owner does so if the one who asks
// comes before itself in the tenant's order, or if it is leaving.
//
// So a tenant moves only from a replica to one before it in a fixed order, or
// when its owner is gone: nothing is moved back and forth, whatever the replicas
// believe of each other at the moment. A replica that joins gets the tenants
// that are its own and no others move; those of one that died go to the next in
// their orders, as soon as their leases have expired. One that leaves takes down
// its key first, so that the others are in line when it releases, and no tenant
// waits for a TTL.
package replica
