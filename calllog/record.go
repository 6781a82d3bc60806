package calllog

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clichain/clichain/call"
)

// Record is one call. It is a plain value, and a line of the log is its JSON.
type Record struct {
	// ID identifies the record.
	ID string `json:"id"`
	// Time is the start of the call.
	Time time.Time `json:"time"`
	// Backend is the name of the backend that answered or, if none did, of the last one that was asked.
	Backend string `json:"backend,omitempty"`
	// Model is the model of the answer, else of the request. Empty: unknown.
	Model string `json:"model,omitempty"`
	// Reason is the class of the failure. Empty: the call was answered.
	Reason call.Reason `json:"reason,omitempty"`
	// Attempts are the runs and skips of the call in order, with the run that answered. The list has at most 32.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Usage is the consumption of all runs. Its cost is the sum of the known costs, and nil if no cost is known.
	Usage call.Usage `json:"usage,omitzero"`
	// Duration is the duration of the call, in milliseconds in JSON ("duration_ms").
	Duration time.Duration `json:"-"`
	// Project is the repository that contains the directory of the call, or the directory if there is none. Empty: the
	// call had no directory.
	Project string `json:"project,omitempty"`
	// Metadata has the keys of Request.Metadata, without the values. The list has at most 16.
	Metadata []string `json:"metadata,omitempty"`
	// Prompt and Answer are the messages of the request and the text of the response, and Message is the description of
	// the failure. They are empty without Config.Content.
	Prompt  []call.Message `json:"prompt,omitempty"`
	Answer  string         `json:"answer,omitempty"`
	Message string         `json:"message,omitempty"`
	// Truncated reports that Prompt or Answer is not complete, because it was too long.
	Truncated bool `json:"truncated,omitempty"`
	// Prev is the SHA-256 hash of the line before, in hexadecimal. Empty: the record is the first of the log.
	Prev string `json:"prev"`
}

// Attempt is one run or skip of a call.
type Attempt struct {
	Backend string      `json:"backend"`
	Reason  call.Reason `json:"reason,omitempty"` // empty: the backend answered
	Skipped bool        `json:"skipped,omitempty"`
	Usage   call.Usage  `json:"usage,omitzero"`
}

// plainRecord has Record's fields without its methods.
type plainRecord Record

type recordJSON struct {
	DurationMS  float64 `json:"duration_ms"`
	plainRecord         // ends with Prev
}

// MarshalJSON returns the record with its duration as "duration_ms".
func (r Record) MarshalJSON() ([]byte, error) {
	return encode(recordJSON{float64(r.Duration) / float64(time.Millisecond), plainRecord(r)})
}

// UnmarshalJSON parses the output of MarshalJSON.
func (r *Record) UnmarshalJSON(data []byte) error {
	var in recordJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*r = Record(in.plainRecord)
	r.Duration = time.Duration(in.DurationMS * float64(time.Millisecond))
	return nil
}

// encode returns a value as JSON on one line, without escapes for HTML.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Limits of one record.
const (
	maxAttempts = 32
	maxMetadata = 16
	maxName     = 256       // bytes of a name, such as that of a model
	maxPath     = 4 << 10   // bytes of the project
	maxText     = 256 << 10 // bytes of the prompt, and of the answer
	maxLine     = 1 << 20   // bytes of a line
	maxTokens   = 1 << 40   // so that sums do not overflow; more is not possible
	maxCost     = 1e9       // US dollars
	hashLength  = sha256.Size * 2
)

// line returns the line of a record without its line break. A record that exceeds the limit loses its content.
func (r Record) line(limit int) ([]byte, error) {
	text, err := encode(r)
	if err != nil || len(text) <= limit {
		return text, err
	}
	r.Prompt, r.Answer, r.Message, r.Truncated = nil, "", "", true
	if text, err = encode(r); err == nil && len(text) > limit {
		err = fmt.Errorf("calllog: a record has %d bytes", len(text))
	}
	return text, err
}

// parseLine parses a line without its line break. It does not compare the hash.
func parseLine(line []byte) (r Record, err error) {
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	if u := r.Usage; r.ID == "" || r.Time.IsZero() || r.Duration < 0 || u.InputTokens < 0 || u.InputTokens > maxTokens ||
		u.OutputTokens < 0 || u.OutputTokens > maxTokens || u.CostUSD != nil && (*u.CostUSD < 0 || *u.CostUSD > maxCost) {
		return r, fmt.Errorf("the line is not a record")
	}
	return r, nil
}

// follows reports whether a line is a record whose Prev is the hash before. It accepts only the form of MarshalJSON.
func follows(line []byte, before string) bool {
	return bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte(`,"prev":"`+before+`"}`))
}

// hashOf returns the hash of a line without its line break.
func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

func newID() string { return strings.ToLower(rand.Text()[:12]) }

// cut returns at most limit bytes of a text, and reports whether it was longer.
func cut(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit], true
}
