package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// Record is one line of the output, encoded as JSON. It contains the result of one input line.
type Record struct {
	// ID is the id of the line. If the line has none, the id is derived from its content.
	ID string `json:"id"`
	// Response is the answer, and Error is the failure. Exactly one of them is not nil.
	Response *clichain.Response `json:"response,omitempty"`
	Error    *jetstream.Failure `json:"error,omitempty"`
	// History contains the attempts before the last one that were interrupted or postponed.
	History []jetstream.Delivery `json:"history,omitempty"`
	// Asked is the digest of the request, which shows whether the line has changed. The zero value means unknown.
	Asked Digest `json:"asked,omitzero"`
}

// line returns the record as one line, with a newline.
func (r *Record) line() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("the result of %q cannot be written as JSON: %w", r.ID, err)
	}
	return b.Bytes(), nil
}

// parseRecord parses a line of the output.
func parseRecord(line []byte) (*Record, error) {
	r := new(Record)
	if err := json.Unmarshal(line, r); err != nil {
		return nil, err
	}
	if r.ID == "" || (r.Response == nil) == (r.Error == nil) {
		return nil, errors.New(`it must have "id" and either "response" or "error"`)
	}
	return r, nil
}

// cost returns the known cost in US dollars.
func (r *Record) cost() float64 {
	result := jetstream.Result{Response: r.Response, Failure: r.Error, History: r.History}
	if usage := result.Usage(); usage.CostUSD != nil {
		return *usage.CostUSD
	}
	return 0
}
