package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"example.com/tenure/examples/ledger/replica"
)

// A client speaks the replicas' API.
type client struct{ http *http.Client }

func newClient() client {
	return client{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// append adds an entry. After an error it may be in the ledger or not.
func (c *client) append(ctx context.Context, addr, tenant string, entry replica.Append) (ack replica.Acknowledgement, err error) {
	err = c.call(ctx, http.MethodPost, "http://"+addr+"/tenants/"+tenant+"/entries", entry, &ack)
	return ack, err
}

func (c *client) entries(ctx context.Context, addr, tenant string) (reading replica.Reading, err error) {
	err = c.call(ctx, http.MethodGet, "http://"+addr+"/tenants/"+tenant+"/entries", nil, &reading)
	return reading, err
}

func (c *client) status(ctx context.Context, addr string) (status replica.Status, err error) {
	err = c.call(ctx, http.MethodGet, "http://"+addr+"/status", nil, &status)
	return status, err
}

func (c *client) call(ctx context.Context, method, url string, body, into any) error {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, url, res.Status, bytes.TrimSpace(data))
	}
	return json.Unmarshal(data, into)
}
