package call

import (
	"encoding/json"
	"time"
)

// QuotaWindow is a usage window of a plan, such as the five hours and the week of a subscription. It is a plain value
// that can be stored as JSON, with Length in milliseconds ("length_ms").
type QuotaWindow struct {
	// Name is the name that the service uses, in snake case, such as "five_hour" (claude) or "primary" (codex).
	Name string `json:"name"`
	// Used is the used share of the window, from 0 to 1. Nil: unknown.
	Used *float64 `json:"used,omitempty"`
	// Length is the length of the window. Zero: unknown.
	Length time.Duration `json:"-"`
	// ResetsAt is the time at which the window is empty again. Zero: unknown, or the window has not begun.
	ResetsAt time.Time `json:"resets_at,omitzero"`
	// ObservedAt is the time of the report. The account may have used more since, with another program.
	ObservedAt time.Time `json:"observed_at,omitzero"`
}

// plainQuotaWindow has QuotaWindow's fields without its methods.
type plainQuotaWindow QuotaWindow

type quotaWindowJSON struct {
	plainQuotaWindow
	LengthMS float64 `json:"length_ms,omitempty"`
}

// MarshalJSON returns the window with its length as "length_ms".
func (w QuotaWindow) MarshalJSON() ([]byte, error) {
	return json.Marshal(quotaWindowJSON{plainQuotaWindow(w), milliseconds(w.Length)})
}

// UnmarshalJSON parses the output of MarshalJSON.
func (w *QuotaWindow) UnmarshalJSON(data []byte) error {
	var in quotaWindowJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*w = QuotaWindow(in.plainQuotaWindow)
	w.Length = fromMilliseconds(in.LengthMS)
	return nil
}
