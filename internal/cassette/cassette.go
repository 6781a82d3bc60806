// Package cassette has the recordings of calls: their format, the form of a request that identifies them, and the
// search for secrets in them. A file has one request with its calls. It is JSON, and a person can read and review it.
package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
)

// Format is the version of the format that this package writes and reads.
const Format = 1

// MaxBytes is the maximum size of a file.
const MaxBytes = 16 << 20

// Cassette has the recorded calls of one request.
type Cassette struct {
	Format  int     `json:"cassette"`
	Request Request `json:"request"`
	Calls   []Call  `json:"calls"` // in the order in which they ended; at least one
}

// Call is one recorded call. It has a Response or a Failure.
type Call struct {
	Backend  string    `json:"backend"`          // the name of the backend that was asked
	Events   []Event   `json:"events,omitempty"` // without the last one
	Response *Response `json:"response,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`

	size int // of all events, in bytes; at most that in the file
}

// minEvent is less than the size of an event without text in a file, in bytes.
const minEvent = 50

// Add adds an event that happened after that time. It drops the events of a call that [Encode] refuses as too large.
func (c *Call) Add(after time.Duration, e call.Event) {
	if c.size += minEvent + len(e.Text) + len(e.Input) + len(e.Raw); c.size > MaxBytes {
		c.Events = nil
		return
	}
	c.Events = append(c.Events, Event{after.Milliseconds(), plainEvent(e), folded(e.Text), milliseconds(e.Delay)})
}

type plainEvent call.Event

// Event is an event with the time since the start of the call in milliseconds.
type Event struct {
	AtMS int64 `json:"at_ms"`
	plainEvent
	Text    folded  `json:"text,omitempty"`
	DelayMS float64 `json:"delay_ms,omitempty"`
}

// Event returns the event.
func (e Event) Event() call.Event {
	e.plainEvent.Text, e.Delay = string(e.Text), duration(e.DelayMS)
	return call.Event(e.plainEvent)
}

// Replay returns the events of the call without the last one. The answer of a call that was no stream is one text.
func (c *Call) Replay() []Event {
	if len(c.Events) > 0 || c.Response == nil {
		return c.Events
	}
	name, text := c.Response.Backend, string(c.Response.Text)
	answer := Call{}
	answer.Add(0, call.Event{Kind: call.EventStart, Backend: name})
	answer.Add(c.Response.Response().Duration, call.Event{Kind: call.EventText, Backend: name, Text: text})
	return answer.Events
}

type plainResponse call.Response

// Response is an answer, without the metadata, which the request of the replay has.
type Response struct {
	plainResponse
	Text       folded  `json:"text"`
	DurationMS float64 `json:"duration_ms"`
}

// ResponseOf returns a response that can be stored.
func ResponseOf(r call.Response) *Response {
	r.Metadata = nil
	return &Response{plainResponse(r), folded(r.Text), milliseconds(r.Duration)}
}

// Response returns the answer.
func (r *Response) Response() *call.Response {
	resp := call.Response(r.plainResponse)
	resp.Text, resp.Duration = string(r.Text), duration(r.DurationMS)
	return &resp
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func duration(ms float64) time.Duration { return time.Duration(math.Round(ms*1000)) * time.Microsecond }

// Encode returns the content of a file.
func Encode(c *Cassette) ([]byte, error) {
	c.Format = Format
	tooLarge := fmt.Errorf("the recording has more than %d MiB", MaxBytes>>20)
	for i := range c.Calls {
		if c.Calls[i].size > MaxBytes {
			return nil, tooLarge
		}
	}
	data, err := indented(c)
	if err == nil && len(data) > MaxBytes {
		err = tooLarge
	}
	return data, err
}

// indented returns a value as JSON that is easy to read.
func indented(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	return b.Bytes(), err
}

// Decode parses and checks the content of a file.
func Decode(data []byte) (*Cassette, error) {
	var header struct {
		Format int `json:"cassette"`
	}
	switch err := json.Unmarshal(data, &header); {
	case err != nil:
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	case header.Format == 0:
		return nil, errors.New(`it is not a recording: it has no member "cassette"`)
	case header.Format != Format:
		return nil, fmt.Errorf("it has format %d, and this version of clichain reads format %d", header.Format, Format)
	}
	c := new(Cassette)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("it has data after the recording")
	}
	if len(c.Calls) == 0 {
		return nil, errors.New("it has no calls")
	}
	for i := range c.Calls {
		if err := c.Calls[i].check(); err != nil {
			return nil, fmt.Errorf("calls[%d]: %w", i, err)
		}
	}
	return c, nil
}

func (c *Call) check() error {
	switch {
	case (c.Response == nil) == (c.Failure == nil):
		return errors.New("it must have either a response or a failure")
	case c.Response != nil && strings.TrimSpace(string(c.Response.Text)) == "":
		return errors.New("the response has no text")
	}
	for i, e := range c.Events {
		if e.Kind == "" || e.Kind == call.EventDone || e.AtMS < 0 {
			return fmt.Errorf("events[%d]: the kind %q at %d ms is not possible", i, e.Kind, e.AtMS)
		}
	}
	return nil
}
