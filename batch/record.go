package batch

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// Record is one line of the output: what came of one line of the input. It has a Response or an Error.
type Record struct {
	ID       string             `json:"id"`
	Response *clichain.Response `json:"response,omitempty"`
	Error    *jetstream.Failure `json:"error,omitempty"`
	// History has the runs before the last one that were cut short, or put off.
	History []jetstream.Delivery `json:"history,omitempty"`
	// Asked stands for what the line asked, to tell whether it has changed. Zero: not known.
	Asked digest `json:"asked,omitzero"`
}

// line is the record as one line, with its end.
func (r *Record) line() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}

// parseRecord reads what line has made.
func parseRecord(line []byte) (*Record, error) {
	r := new(Record)
	if err := json.Unmarshal(line, r); err != nil {
		return nil, err
	}
	if r.ID == "" || (r.Response == nil) == (r.Error == nil) {
		return nil, errors.New(`it has no "id", or not one of "response" and "error"`)
	}
	return r, nil
}

// cost is what is known of the cost, in US dollars.
func (r *Record) cost() float64 {
	result := jetstream.Result{Response: r.Response, Failure: r.Error, History: r.History}
	if usage := result.Usage(); usage.CostUSD != nil {
		return *usage.CostUSD
	}
	return 0
}
