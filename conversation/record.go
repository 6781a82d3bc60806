package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/session"
)

const (
	recordVersion = 1
	maxRecord     = 64 << 20 // bytes
	maxThreads    = 100
)

// record is the stored form of a conversation.
type record struct {
	Version  int           `json:"version"`
	Dropped  int           `json:"dropped,omitempty"`
	Lead     string        `json:"lead,omitempty"`
	Messages []message     `json:"messages"`
	Threads  []call.Thread `json:"threads,omitempty"`
}

// Save writes the conversation as JSON, without the settings. Secrets of the environment of this process and of
// Request.Env, and texts with the shape of a key, are replaced by "[redacted]". The record contains the conversation
// and names sessions of this user, so store it in a private file. During a turn, the record has the message without an
// answer, and lacks the sessions that may hold it. So a program can save during a turn, in case it is killed. A record
// belongs to one program at a time.
func (c *Conversation) Save(w io.Writer) error {
	c.mu.Lock()
	h := c.history.uncertain(c.started)
	c.mu.Unlock()
	env := os.Environ()
	for name, value := range c.cfg.Request.Env {
		env = append(env, name+"="+value)
	}
	redactor := plaintext.NewRedactor(env)
	r := record{Version: recordVersion, Dropped: h.dropped, Lead: redactor.CleanDisguised(h.lead), Threads: h.threads}
	r.Messages = make([]message, len(h.messages))
	for i, m := range h.messages {
		m.Content, m.Files = redactor.CleanDisguised(m.Content), slices.Clone(m.Files)
		redactor.AllDisguised(m.Files)
		r.Messages[i] = m
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("conversation: %w", err)
	}
	if _, err = w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("conversation: the record cannot be written: %w", err)
	}
	return nil
}

// Load reads a conversation that Save wrote. The backend and the settings can differ from those of the saved
// conversation: a backend without a session in the record gets the earlier messages. Config.Request.Session must be
// empty. The error wraps [ErrRecord] if the record is damaged, has another version or has more than 64 MiB.
func Load(r io.Reader, b clichain.Backend, cfg *Config) (*Conversation, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRecord+1))
	if err != nil {
		return nil, fmt.Errorf("conversation: the record cannot be read: %w", err)
	}
	h, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	c := New(b, cfg)
	if len(c.history.threads) > 0 || c.cfg.Request.Session != "" {
		return nil, call.Errorf(clichain.ReasonBadOption, "session", "a loaded conversation has its own sessions")
	}
	c.history = h
	return c, nil
}

// parse returns the history in a record, or what is wrong with the record.
func parse(data []byte) (history, error) {
	if len(data) > maxRecord {
		return history{}, fmt.Errorf("it has more than %d bytes", maxRecord)
	}
	var version struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return history{}, fmt.Errorf("it is not valid JSON: %w", err)
	}
	if version.Version == nil {
		return history{}, fmt.Errorf("it has no version")
	}
	if *version.Version != recordVersion {
		return history{}, fmt.Errorf("it has version %d, and this program reads version %d", *version.Version, recordVersion)
	}
	var r record
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return history{}, err
	}
	h := history{dropped: r.Dropped, lead: r.Lead, messages: r.Messages, threads: r.Threads}
	return h, h.check()
}

// check returns what is wrong with a history from a record.
func (h *history) check() error {
	switch {
	case h.dropped < 0 || h.dropped > 1<<40 || (h.dropped == 0) != (h.lead == ""):
		return fmt.Errorf("its number of dropped messages is wrong: %d", h.dropped)
	case len(h.threads) > maxThreads:
		return fmt.Errorf("it has %d threads, more than %d", len(h.threads), maxThreads)
	case plaintext.Problem(h.lead) != "":
		return fmt.Errorf("its lead has a %s", plaintext.Problem(h.lead))
	}
	for i, m := range h.messages {
		if m.Role != clichain.RoleUser && m.Role != clichain.RoleAssistant {
			return fmt.Errorf("message %d has the role %.20q, not user or assistant", i, m.Role)
		}
		if problem := plaintext.Problem(m.text()); problem != "" {
			return fmt.Errorf("message %d has a %s", i, problem)
		}
	}
	one := call.Request{Messages: make([]call.Message, 1), Threads: slices.Clone(h.threads)}
	for i, t := range h.threads {
		if t.Messages < 0 || t.Messages > h.total() {
			return fmt.Errorf("thread %d has %d messages, and the conversation has %d", i, t.Messages, h.total())
		}
		one.Threads[i].Messages = min(t.Messages, 1)
	}
	if err := session.CheckThreads(one); err != nil {
		return fmt.Errorf("%s: %s", err.Option, err.Message)
	}
	return nil
}
