package httpapi

import "encoding/json"

// A Result is the answer to one item of a request: a grant, or an error that is
// written as a refusal.
type Result struct {
	Grant Grant
	Err   error // one of package tenure's, or nil
}

// Results answers a request of many items, in their order.
type Results struct {
	Results []Result `json:"results"`
}

// MarshalJSON implements [encoding/json.Marshaler].
func (r Result) MarshalJSON() ([]byte, error) {
	if r.Err != nil {
		return json.Marshal(RefusalOf(r.Err))
	}
	return json.Marshal(r.Grant)
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (r *Result) UnmarshalJSON(raw []byte) error {
	var refusal Refusal
	if err := json.Unmarshal(raw, &refusal); err != nil {
		return err
	}
	if refusal.Code != "" {
		*r = Result{Err: refusal.Err()}
		return nil
	}
	*r = Result{}
	return json.Unmarshal(raw, &r.Grant)
}
