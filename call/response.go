package call

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Response is an answer. It is a plain value that can be stored as JSON, with durations in milliseconds
// ("duration_ms").
type Response struct {
	// Text is the answer; it is never empty.
	Text string `json:"text"`
	// Backend is the name of the backend that answered, such as "claude".
	Backend string `json:"backend"`
	// Provider is the provider slug of the backend, such as "anthropic-cli".
	Provider string `json:"provider,omitempty"`
	// Model is the model that the CLI reported, else the model of the request, else the default of the spec.
	Model string `json:"model,omitempty"`
	// Session identifies the session of the answer. Set Request.Session to it to continue the session. It is opaque,
	// needs no quoting in a shell, and is valid for this user on this machine. Empty: the CLI keeps no session.
	Session string `json:"session,omitempty"`
	// HandedOver is the name of the backend that answered before in this conversation, if another one answered now:
	// the Backend of the first of Request.Threads. Empty: the conversation did not change its backend.
	HandedOver string `json:"handed_over,omitempty"`
	// KeySource is the source of the credentials that the CLI reported. Empty: unknown.
	KeySource string `json:"key_source,omitempty"`
	// Billing is who paid. Empty: unknown.
	Billing Billing `json:"billing,omitempty"`
	// Confined is what confined the CLI. "landlock 7" is the kernel, with the version of its interface. "own" is the
	// sandbox of the CLI itself. Other values are "no: " with the reason. Empty: unknown.
	Confined string `json:"confined,omitempty"`
	// Changes are the changes in a private copy of Request.Dir. Nil: the backend does not work in a copy; see package
	// workspace.
	Changes *Changes `json:"changes,omitempty"`
	// Usage is the consumption of the run that answered.
	Usage Usage `json:"usage,omitzero"`
	// Quota is what the CLI reported about the usage windows of its plan, after the answer. Empty: it did not report it.
	Quota []QuotaWindow `json:"quota,omitempty"`
	// Duration is the time from the start to the end of the run that answered.
	Duration time.Duration `json:"-"`
	// Attempts lists the backends that failed or were skipped before this answer, in order.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Warnings describe problems that did not prevent the answer, for users.
	Warnings []string `json:"warnings,omitempty"`
	// Flags tell programs how the answer differs from the request. Warnings tell users the same. Empty: no
	// difference.
	Flags []Flag `json:"flags,omitempty"`
	// Drift is a note that the CLI is newer than the version that its spec was tested with. Empty: it is not, or its
	// version is unknown.
	Drift string `json:"drift,omitempty"`
	// Metadata is the Metadata of the request.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Flag is one way in which an answer differs from the request.
type Flag string

const (
	// FlagTruncated: the text may be incomplete, because the CLI reached a limit or its stream ended early without an
	// error.
	FlagTruncated Flag = "truncated"
	// FlagStreamFallback: the stream ended early and without text. A second run in an output mode without streaming
	// gave the answer.
	FlagStreamFallback Flag = "stream_fallback"
	// FlagFreshSession: the CLI rejected the session of the request and answered in a new session; see
	// Config.FreshSessionOnReject and Request.Threads.
	FlagFreshSession Flag = "fresh_session"
	// FlagRawOutput: the text is the raw output of the CLI; see Config.RawOutput.
	FlagRawOutput Flag = "raw_output"
	// FlagRepaired: the first answer did not match Request.Schema, and this is the corrected answer.
	FlagRepaired Flag = "repaired"
	// FlagRedacted: parts of the answer were replaced by "[redacted]"; see Config.RedactAnswers.
	FlagRedacted Flag = "redacted"
	// FlagHandedOver: the backend of the first of Request.Threads did not answer; see Response.HandedOver.
	FlagHandedOver Flag = "handed_over"
	// FlagCached: the answer is from a cache, and no backend was asked; see package cache.
	FlagCached Flag = "cached"
)

// Billing is who pays for an answer.
type Billing string

const (
	// BillingUnknown is the zero value.
	BillingUnknown Billing = ""
	// BillingSubscription is a plan with a fixed price.
	BillingSubscription Billing = "subscription"
	// BillingAPIKey is an account that is charged for each request, with an API key or at a cloud provider.
	BillingAPIKey Billing = "api_key"
)

// TotalUsage returns the consumption of the whole call: the answer and the attempts before it. The cost is the sum of
// the known costs, and nil if no cost is known.
func (r *Response) TotalUsage() Usage {
	total := r.Usage
	for _, a := range r.Attempts {
		total = total.Add(a.Usage)
	}
	return total
}

// Clone returns a copy that shares no memory with r, except the errors in Attempts.
func (r *Response) Clone() *Response {
	c := *r
	c.Usage = c.Usage.clone()
	c.Quota = slices.Clone(c.Quota)
	for i, w := range c.Quota {
		if w.Used != nil {
			c.Quota[i].Used = new(*w.Used)
		}
	}
	c.Attempts = slices.Clone(c.Attempts)
	for i := range c.Attempts {
		c.Attempts[i].Usage = c.Attempts[i].Usage.clone()
	}
	c.Warnings, c.Flags, c.Metadata = slices.Clone(c.Warnings), slices.Clone(c.Flags), maps.Clone(c.Metadata)
	if c.Changes != nil {
		c.Changes = new(*c.Changes)
		c.Changes.Files = slices.Clone(c.Changes.Files)
	}
	return &c
}

// plainResponse has Response's fields without its methods.
type plainResponse Response

type responseJSON struct {
	plainResponse
	DurationMS float64 `json:"duration_ms"`
}

// MarshalJSON returns the response with its duration as "duration_ms".
func (r Response) MarshalJSON() ([]byte, error) {
	return json.Marshal(responseJSON{plainResponse(r), milliseconds(r.Duration)})
}

// UnmarshalJSON parses the output of MarshalJSON.
func (r *Response) UnmarshalJSON(data []byte) error {
	var in responseJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*r = Response(in.plainResponse)
	r.Duration = fromMilliseconds(in.DurationMS)
	return nil
}

// Usage is the consumption of a run. A zero count means that the CLI reported none. CostUSD is nil if the cost is
// unknown.
type Usage struct {
	InputTokens      int64    `json:"input_tokens,omitempty"`       // as counted by the CLI, usually with cached input
	OutputTokens     int64    `json:"output_tokens,omitempty"`      // with reasoning if the CLI includes it
	CacheReadTokens  int64    `json:"cache_read_tokens,omitempty"`  // input that was read from a cache
	CacheWriteTokens int64    `json:"cache_write_tokens,omitempty"` // input that was written to a cache
	ReasoningTokens  int64    `json:"reasoning_tokens,omitempty"`   // output for reasoning
	Turns            int64    `json:"turns,omitempty"`              // turns of the model
	CostUSD          *float64 `json:"cost_usd,omitempty"`           // US dollars; nil: unknown
}

// clone returns a copy with its own CostUSD.
func (u Usage) clone() Usage {
	if u.CostUSD != nil {
		u.CostUSD = new(*u.CostUSD)
	}
	return u
}

// MarshalJSON returns the fields of the usage. A cost that is not a finite number, which JSON cannot represent, is
// omitted.
func (u Usage) MarshalJSON() ([]byte, error) {
	type plain Usage
	if cost := u.CostUSD; cost != nil && (math.IsNaN(*cost) || math.IsInf(*cost, 0)) {
		u.CostUSD = nil
	}
	return json.Marshal(plain(u))
}

// String returns the known counts and the cost in US dollars on one line: "12 input tokens (3 from cache), 5 output
// tokens, 2 turns, $0.0012". It returns "unknown" if there are none.
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

// Add returns the sum of two usages. Its cost is unknown only if both costs are.
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

// Attempt is the result of one backend in a call: a failed run or a skip. It is a plain value. The zero value means
// that no backend was asked.
type Attempt struct {
	Backend  string        // the name of the backend
	Reason   Reason        // the class of the failure
	Skipped  bool          // the backend was not started
	Duration time.Duration // the duration of the run; about zero for a skip
	Usage    Usage         // the consumption of the run, as far as the CLI reported it
	Err      error         // the details, usually an [*Error]
}

type attemptJSON struct {
	Backend    string  `json:"backend"`
	Reason     Reason  `json:"reason"`
	Skipped    bool    `json:"skipped"`
	DurationMS float64 `json:"duration_ms"`
	Usage      Usage   `json:"usage,omitzero"`
	Error      *Error  `json:"error,omitempty"`
}

// MarshalJSON returns the attempt with its error as an object, with the last 4 KiB of stderr, and its duration in
// milliseconds ("duration_ms").
func (a Attempt) MarshalJSON() ([]byte, error) {
	out := attemptJSON{a.Backend, a.Reason, a.Skipped, milliseconds(a.Duration), a.Usage, nil}
	if a.Err != nil {
		be := *AsError(a.Backend, a.Err)
		be.Message, be.Earlier, be.Stderr = be.Detail(), nil, tail(be.Stderr, maxJSONStderr)
		out.Error = &be
	}
	return json.Marshal(out)
}

// UnmarshalJSON parses the output of MarshalJSON. Err becomes an [*Error].
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
