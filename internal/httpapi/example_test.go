package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"example.com/tenure"
)

// What a client in any language does. With curl:
//
//	curl -d '{"key":"t1","owner":"r1/ab12","request_id":"5e0b","ttl_ms":10000}' 127.0.0.1:7400/v1/acquire
//	curl 127.0.0.1:7400/v1/leases/t1
//	curl -d '{"owner":"r1/ab12","ttl_ms":10000,"tenures":[{"key":"t1","epoch":1}]}' 127.0.0.1:7400/v1/renew
//	curl -d '{"owner":"r1/ab12","tenures":[{"key":"t1","epoch":1}]}' 127.0.0.1:7400/v1/release
func ExampleNewHandler() {
	node := httptest.NewServer(NewHandler(Config{Backend: newFake()}))
	defer node.Close()
	curl := func(path, body string) {
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		request, err := http.NewRequest(method, node.URL+path, strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d %s", response.StatusCode, answer)
	}
	curl("/v1/acquire", `{"key":"t1","owner":"r1/ab12","request_id":"5e0b","ttl_ms":10000}`)
	curl("/v1/acquire", `{"key":"t1","owner":"r2/cd34","request_id":"77aa","ttl_ms":50}`)
	curl("/v1/leases/t1", "")
	curl("/v1/renew", `{"owner":"r1/ab12","ttl_ms":10000,"tenures":[{"key":"t1","epoch":1}]}`)
	curl("/v1/release", `{"owner":"r1/ab12","tenures":[{"key":"t1","epoch":1}]}`)
	// Output:
	// 200 {"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":10000}
	// 400 {"error":"invalid","message":"t1: invalid ttl_ms 50: must be from 100 to 3600000","key":"t1","field":"ttl_ms","value":"50","bound":"from 100 to 3600000"}
	// 200 {"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":10000,"expired":false,"remaining_ms":5000}
	// 200 {"results":[{"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true},"ttl_ms":10000}]}
	// 200 {"results":[{"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":false},"ttl_ms":0}]}
}

// A watch as it is on the wire: curl -N 127.0.0.1:7400/v1/watch
func ExampleNewHandler_watch() {
	backend := newFake()
	node := httptest.NewServer(NewHandler(Config{Backend: backend}))
	defer node.Close()
	response, err := http.Get(node.URL + "/v1/watch?prefix=t")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	backend.Acquire(context.Background(), tenure.AcquireRequest{Owner: "r1/ab12", Asks: []tenure.Ask{{Key: "t1", RequestID: "5e0b", TTL: tenure.MinTTL}}})
	lines := bufio.NewScanner(response.Body)
	for range 5 {
		lines.Scan()
		if lines.Text() != "" {
			fmt.Println(lines.Text())
		}
	}
	// Output:
	// id: 0
	// event: granted
	// id: 1
	// data: {"event":"granted","index":1,"record":{"key":"t1","owner":"r1/ab12","epoch":1,"forgotten_at_epoch":0,"held":true}}
}

func ExampleClient() {
	node := httptest.NewServer(NewHandler(Config{Backend: newFake()}))
	defer node.Close()
	ctx := context.Background()
	client, err := NewClient("127.0.0.1:1", node.Listener.Addr().String()) // nobody is at the first
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	grant, err := client.Acquire(ctx, AcquireRequest{Key: "t1", Owner: "r1/ab12", RequestID: "5e0b", TTLMillis: 10000})
	fmt.Println(grant.Record.Epoch, err)
	_, err = client.Acquire(ctx, AcquireRequest{Key: "t1", Owner: "r2/cd34", RequestID: "77aa", TTLMillis: 10000})
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// t1: held by r1/ab12 at epoch 1, which expires in 1.501s unless it is renewed: wait or try again
}
