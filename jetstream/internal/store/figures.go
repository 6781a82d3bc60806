package store

import (
	"strconv"

	"github.com/clichain/clichain"
	"github.com/nats-io/nats.go"
)

// Figures are what Status counts of a result. The headers of its message have them, so that clients count
// results without reading them.
type Figures struct {
	Owner   string          `json:"owner,omitempty"`   // empty: none
	Backend string          `json:"backend,omitempty"` // of an answer
	Reason  clichain.Reason `json:"reason,omitempty"`  // of a failure
	Usage   clichain.Usage  `json:"usage,omitzero"`
}

const (
	backendHeader = "Clichain-Backend"
	reasonHeader  = "Clichain-Reason"
	ownerHeader   = "Clichain-Owner"
	inputHeader   = "Clichain-Input-Tokens"
	outputHeader  = "Clichain-Output-Tokens"
	costHeader    = "Clichain-Cost-Usd"
)

// addTo adds the figures to the headers of a result.
func (f *Figures) addTo(h nats.Header) {
	for name, value := range map[string]string{
		backendHeader: f.Backend, reasonHeader: string(f.Reason), ownerHeader: f.Owner,
		inputHeader:  strconv.FormatInt(f.Usage.InputTokens, 10),
		outputHeader: strconv.FormatInt(f.Usage.OutputTokens, 10),
	} {
		if value != "" {
			h.Set(name, value)
		}
	}
	if cost := f.Usage.CostUSD; cost != nil {
		h.Set(costHeader, strconv.FormatFloat(*cost, 'g', -1, 64))
	}
}

// figuresOf reads the figures of a result. A missing or unreadable number counts as zero, and a missing cost as
// unknown.
func figuresOf(h nats.Header) Figures {
	f := Figures{
		Owner: h.Get(ownerHeader), Backend: h.Get(backendHeader), Reason: clichain.Reason(h.Get(reasonHeader)),
	}
	f.Usage.InputTokens, _ = strconv.ParseInt(h.Get(inputHeader), 10, 64)
	f.Usage.OutputTokens, _ = strconv.ParseInt(h.Get(outputHeader), 10, 64)
	if cost, err := strconv.ParseFloat(h.Get(costHeader), 64); err == nil {
		f.Usage.CostUSD = &cost
	}
	return f
}

// ReasonOf returns the reason in the header of a result; empty for an answer.
func ReasonOf(h nats.Header) clichain.Reason { return clichain.Reason(h.Get(reasonHeader)) }
