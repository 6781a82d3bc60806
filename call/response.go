package call

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Response is an answer: a plain value that survives JSON, with durations in
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
	// Session continues from this answer when set as Request.Session. It is
	// opaque, needs no quotes in a shell, and is of use to this user on this
	// machine. Empty when the CLI keeps no session.
	Session string `json:"session,omitempty"`
	// KeySource is where the CLI says its credential came from. Empty: unknown.
	KeySource string `json:"key_source,omitempty"`
	// Billing is who paid. Empty: unknown.
	Billing Billing `json:"billing,omitempty"`
	// Usage is what this answer consumed.
	Usage Usage `json:"usage,omitzero"`
	// Duration is the time from the start of the answering try to its end.
	Duration time.Duration `json:"-"`
	// Attempts are the backends tried or skipped before this answer, in order.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Warnings tell people about problems that did not prevent the answer.
	Warnings []string `json:"warnings,omitempty"`
	// Flags tell programs how the answer differs from what was asked for;
	// Warnings say the same to people. Empty: it does not differ.
	Flags []Flag `json:"flags,omitempty"`
	// Drift says that the CLI is newer than the version with which its spec was
	// checked. Empty: it is not, or the installed version is not known.
	Drift string `json:"drift,omitempty"`
	// Metadata is that of the request.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Flag is one way in which an answer differs from what was asked for.
type Flag string

const (
	// FlagTruncated: the text may be incomplete. A limit of the CLI cut it
	// short, or its stream broke off without an error.
	FlagTruncated Flag = "truncated"
	// FlagStreamFallback: the stream broke off before any text; a second run, in
	// an output mode that is read at the end, answered.
	FlagStreamFallback Flag = "stream_fallback"
	// FlagFreshSession: the CLI did not accept the session to continue, and
	// answered without it; see Config.FreshSessionOnReject.
	FlagFreshSession Flag = "fresh_session"
	// FlagRawOutput: the text is all that the CLI printed; see Config.RawOutput.
	FlagRawOutput Flag = "raw_output"
	// FlagRepaired: the first answer did not meet Request.Schema; the model was
	// told so, and this is its corrected answer.
	FlagRepaired Flag = "repaired"
	// FlagRedacted: something of the answer was replaced by "[redacted]"; see
	// Config.RedactAnswers.
	FlagRedacted Flag = "redacted"
)

// Billing is who pays for an answer.
type Billing string

const (
	// BillingUnknown is the zero value.
	BillingUnknown Billing = ""
	// BillingSubscription is a plan that is paid for anyway.
	BillingSubscription Billing = "subscription"
	// BillingAPIKey is an account that pays for each request: a key, or a cloud.
	BillingAPIKey Billing = "api_key"
)

// TotalUsage returns what the whole call consumed: the answer and the attempts
// before it. The cost is the sum of the known costs, and nil when none is known.
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

// MarshalJSON writes the response with its duration as "duration_ms".
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
// CostUSD is nil when the cost is unknown.
type Usage struct {
	InputTokens      int64    `json:"input_tokens,omitempty"`       // all input, cached or not, as the CLI counts it
	OutputTokens     int64    `json:"output_tokens,omitempty"`      // reasoning included where the CLI includes it
	CacheReadTokens  int64    `json:"cache_read_tokens,omitempty"`  // input that came from a cache
	CacheWriteTokens int64    `json:"cache_write_tokens,omitempty"` // input that was written to a cache
	ReasoningTokens  int64    `json:"reasoning_tokens,omitempty"`   // output spent on reasoning
	Turns            int64    `json:"turns,omitempty"`              // model turns
	CostUSD          *float64 `json:"cost_usd,omitempty"`           // US dollars; nil: unknown
}

// MarshalJSON writes the usage as its fields. A cost that is no finite number,
// which JSON cannot say, is unknown.
func (u Usage) MarshalJSON() ([]byte, error) {
	type plain Usage
	if cost := u.CostUSD; cost != nil && (math.IsNaN(*cost) || math.IsInf(*cost, 0)) {
		u.CostUSD = nil
	}
	return json.Marshal(plain(u))
}

// String returns the counts that are known, and the cost in US dollars, in one line:
// "12 input tokens (3 from cache), 5 output tokens, 2 turns, $0.0012". It is
// "unknown" where nothing is known.
func (u Usage) String() string {
	var parts []string
	count := func(n int64, unit string) string {
		if n == 1 {
			unit = strings.TrimSuffix(unit, "s")
		}
		return fmt.Sprintf("%d %s", n, unit)
	}
	add := func(n int64, unit string, details ...string) {
		details = slices.DeleteFunc(details, func(d string) bool { return strings.HasPrefix(d, "0 ") })
		switch {
		case n == 0 && len(details) == 0:
		case len(details) == 0:
			parts = append(parts, count(n, unit))
		default:
			parts = append(parts, count(n, unit)+" ("+strings.Join(details, ", ")+")")
		}
	}
	add(u.InputTokens, "input tokens",
		fmt.Sprintf("%d from cache", u.CacheReadTokens), fmt.Sprintf("%d to cache", u.CacheWriteTokens))
	add(u.OutputTokens, "output tokens", fmt.Sprintf("%d reasoning", u.ReasoningTokens))
	add(u.Turns, "turns")
	if u.CostUSD != nil {
		parts = append(parts, fmt.Sprintf("$%.4f", *u.CostUSD))
	}
	return cmp.Or(strings.Join(parts, ", "), "unknown")
}

// Add returns the sum of two usages; its cost is unknown only if both are.
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

// Attempt is one backend's part in a call: a failed run, or a skip. It is a
// plain value; the zero value means that nothing was tried.
type Attempt struct {
	Backend  string        // its name
	Reason   Reason        // why it did not answer
	Skipped  bool          // the backend was not started
	Duration time.Duration // of the run; about zero for a skip
	Usage    Usage         // what the run consumed, as far as it was reported
	Err      error         // the details, usually as an [*Error]
}

type attemptJSON struct {
	Backend    string  `json:"backend"`
	Reason     Reason  `json:"reason"`
	Skipped    bool    `json:"skipped"`
	DurationMS float64 `json:"duration_ms"`
	Usage      Usage   `json:"usage,omitzero"`
	Error      *Error  `json:"error,omitempty"`
}

// MarshalJSON writes the attempt with its error as an object and its duration
// in milliseconds ("duration_ms"). Of stderr it has the last 4 KiB.
func (a Attempt) MarshalJSON() ([]byte, error) {
	out := attemptJSON{a.Backend, a.Reason, a.Skipped, milliseconds(a.Duration), a.Usage, nil}
	if a.Err != nil {
		be := *AsError(a.Backend, a.Err)
		be.Message, be.Earlier, be.Stderr = be.Detail(), nil, tail(be.Stderr, maxJSONStderr)
		out.Error = &be
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote; Err becomes a [*Error].
func (a *Attempt) UnmarshalJSON(data []byte) error {
	var in attemptJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*a = Attempt{in.Backend, in.Reason, in.Skipped, fromMilliseconds(in.DurationMS), in.Usage, nil}
	if in.Error != nil {
		a.Err = in.Error
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func fromMilliseconds(ms float64) time.Duration {
	return time.Duration(math.Round(ms*1000)) * time.Microsecond
}
