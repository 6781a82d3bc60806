package call

import (
	"encoding/json"
	"math"
	"time"
)

// Attempt is one backend's part in a call: a failed run, or a skip. It is a
// plain value; the zero value means that nothing was tried.
type Attempt struct {
	// Backend is the name of the backend.
	Backend string
	// Reason says why it did not answer.
	Reason Reason
	// Skipped is true when the backend was not started.
	Skipped bool
	// Duration is how long the run took; about zero for a skip.
	Duration time.Duration
	// Usage is what the run consumed, as far as it was reported.
	Usage Usage
	// Err has the details, usually as a [*Error].
	Err error
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
// in milliseconds ("duration_ms").
func (a Attempt) MarshalJSON() ([]byte, error) {
	out := attemptJSON{a.Backend, a.Reason, a.Skipped, milliseconds(a.Duration), a.Usage, nil}
	if a.Err != nil {
		be := *AsError(a.Backend, a.Err)
		be.Message, be.Earlier = be.Detail(), nil
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
