package call

import (
	"encoding/json"
	"time"
)

// FlagRepaired: the first answer did not meet Request.Schema; the model was
// told so, and this is its corrected answer.
const FlagRepaired Flag = "repaired"

// Response is an answer. A plain value that survives JSON, with durations in
// milliseconds ("duration_ms").
type Response struct {
	// Text is the answer, never empty.
	Text string `json:"text"`
	// Backend is the name of the spec that answered, such as "claude".
	Backend string `json:"backend"`
	// Provider is its slug, such as "anthropic-cli".
	Provider string `json:"provider,omitempty"`
	// Model is the model the CLI says it used, else the one that was asked
	// for, else the spec's default.
	Model string `json:"model,omitempty"`
	// Session goes on from this answer as Request.Session. Empty when the CLI
	// keeps none.
	Session string `json:"session,omitempty"`
	// KeySource is where the CLI says its credential came from, where it says
	// so. Empty: unknown.
	KeySource string `json:"key_source,omitempty"`
	// Billing is who paid, as far as that is known. Empty: unknown.
	Billing Billing `json:"billing,omitempty"`
	// Usage is what this answer consumed.
	Usage Usage `json:"usage,omitzero"`
	// Duration is the time from the start of the answering try to its end.
	Duration time.Duration `json:"-"`
	// Attempts is what was tried or skipped before this answer, in order.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Warnings is what a person should know although the answer stands.
	Warnings []string `json:"warnings,omitempty"`
	// Flags marks an answer that is not quite what was asked for, for programs;
	// Warnings says the same to people. Empty: nothing is unusual.
	Flags []Flag `json:"flags,omitempty"`
	// Metadata is the request's.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Flag marks an answer that is not quite what was asked for.
type Flag string

const (
	// FlagTruncated: the text may not be whole. A limit of the CLI's cut it
	// short, or its stream broke off without an error.
	FlagTruncated Flag = "truncated"
	// FlagStreamFallback: the stream broke off before any text; a second run,
	// in a mode that is read at its end, answered.
	FlagStreamFallback Flag = "stream_fallback"
	// FlagFreshSession: the session to go on from was not accepted, and the
	// answer knows nothing of it; see Config.FreshSessionOnReject.
	FlagFreshSession Flag = "fresh_session"
	// FlagRawOutput: the text is all that the CLI printed; see Config.RawOutput.
	FlagRawOutput Flag = "raw_output"
)

// TotalUsage is what the whole call consumed: the answer and the attempts
// before it. The cost is the sum of what is known, and nil when nothing is.
func (r *Response) TotalUsage() Usage {
	total := r.Usage
	for _, a := range r.Attempts {
		total = total.Add(a.Usage)
	}
	return total
}

// plainResponse has Response's fields without its methods.
type plainResponse Response

type responseJSON struct {
	plainResponse
	DurationMS float64 `json:"duration_ms"`
}

// MarshalJSON adds "duration_ms".
func (r Response) MarshalJSON() ([]byte, error) {
	return json.Marshal(responseJSON{plainResponse(r), milliseconds(r.Duration)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Response) UnmarshalJSON(data []byte) error {
	var in responseJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*r = Response(in.plainResponse)
	r.Duration = fromMilliseconds(in.DurationMS)
	return nil
}

// Usage is what a run consumed. A zero count means that the CLI reported none;
// CostUSD is nil when the cost is not known, never zero by default.
type Usage struct {
	InputTokens      int64    `json:"input_tokens,omitempty"`       // all input, cached or not, as the CLI counts it
	OutputTokens     int64    `json:"output_tokens,omitempty"`      // reasoning included where the CLI includes it
	CacheReadTokens  int64    `json:"cache_read_tokens,omitempty"`  // input that came from a cache
	CacheWriteTokens int64    `json:"cache_write_tokens,omitempty"` // input that was written to a cache
	ReasoningTokens  int64    `json:"reasoning_tokens,omitempty"`   // output spent on reasoning
	Turns            int64    `json:"turns,omitempty"`              // model turns
	CostUSD          *float64 `json:"cost_usd,omitempty"`           // US dollars; nil: unknown
}

// Add sums two usages; a cost stays unknown only while both are.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
		Turns:            u.Turns + v.Turns,
		CostUSD:          u.CostUSD,
	}
	if v.CostUSD != nil {
		sum.CostUSD = new(*v.CostUSD)
		if u.CostUSD != nil {
			*sum.CostUSD += *u.CostUSD
		}
	}
	return sum
}
