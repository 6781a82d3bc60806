package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// maxID limits the length of an id in the input. The limit of the queue is higher, because the queue puts a scope
// before the id.
const maxID = 400

// entry contains the fields of a line. A nil field means that the line omits it.
type entry struct {
	id                         *lineID
	prompt, system, model, dir *string

	messages   []message
	access     *clichain.Access
	schema     json.RawMessage
	options    json.RawMessage
	metadata   map[string]string
	priority   jetstream.Priority
	deadline   time.Time
	idempotent bool

	extra   map[string]string // values that are not part of a request
	ignored []string          // fields that have no effect
}

// message is a message that is decoded without unknown fields.
type message clichain.Message

// field describes the type of a field and where its value is stored.
type field struct {
	kind string
	at   func(e *entry) any
	json bool // a table contains the value as JSON rather than as text
}

var fields = map[string]field{
	"id":         {"a string or a number", func(e *entry) any { return &e.id }, false},
	"prompt":     {"a string", func(e *entry) any { return &e.prompt }, false},
	"messages":   {`a list of {"role", "content"}`, func(e *entry) any { return &e.messages }, true},
	"system":     {"a string", func(e *entry) any { return &e.system }, false},
	"model":      {"a string", func(e *entry) any { return &e.model }, false},
	"schema":     {"a JSON Schema", func(e *entry) any { return &e.schema }, true},
	"access":     {"none, read, write or full", func(e *entry) any { return &e.access }, false},
	"metadata":   {"an object of strings", func(e *entry) any { return &e.metadata }, true},
	"dir":        {"a string", func(e *entry) any { return &e.dir }, false},
	"options":    {"an object", func(e *entry) any { return &e.options }, true},
	"priority":   {"high, normal or low", func(e *entry) any { return &e.priority }, false},
	"deadline":   {"a time such as 2026-01-31T18:00:00Z", func(e *entry) any { return &e.deadline }, false},
	"idempotent": {"true or false", func(e *entry) any { return &e.idempotent }, true},
}

var (
	errNoUTF8       = errors.New("is not valid UTF-8")
	errNothingAsked = errors.New("has neither prompt nor messages: add one of them")
)

// parseEntry parses a line. The error names the field and its type.
func parseEntry(text []byte) (*entry, error) {
	if !utf8.Valid(text) {
		return nil, errNoUTF8
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("is not valid JSON: %v", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if first, _ := d.Token(); first != json.Delim('{') {
		return nil, errors.New(`is not a JSON object: write {"prompt": "..."}`)
	}
	e, seen := &entry{}, map[string]bool{}
	for d.More() { // the text is valid JSON
		name, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value)
		if err := e.set(fmt.Sprint(name), value, seen); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *entry) set(name string, value json.RawMessage, seen map[string]bool) error {
	f, known := fields[name]
	if seen[name] {
		return fmt.Errorf("%s: is set twice", name)
	}
	seen[name] = true
	switch {
	case bytes.Equal(value, []byte("null")):
		return nil
	case !known:
		if err := checkUnknown(name); err != nil {
			return err
		}
		e.keep(name, value)
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(f.at(e)); err != nil {
		return fmt.Errorf("%s: must be %s: %s", name, f.kind, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// job returns the job of a line. Fields that the line omits have the defaults of the parser.
func (e *entry) job(p *Parser) (job jetstream.Job, err error) {
	defaults := p.Defaults
	job = jetstream.Job{Priority: e.priority, Deadline: e.deadline, Idempotent: e.idempotent, Request: defaults}
	if e.id != nil {
		job.ID = string(*e.id)
	}
	req := &job.Request
	if req.Messages, err = e.conversation(defaults.Messages); err != nil {
		return job, err
	}
	set(&req.Model, e.model)
	set(&req.Access, e.access)
	if req.Access == clichain.AccessNone {
		req.Dir = "" // the default is only for lines that work in a directory
	}
	set(&req.Dir, e.dir)
	if e.schema != nil {
		req.Schema = e.schema
	}
	if e.metadata != nil {
		req.Metadata = e.metadata
	}
	req.Metadata = e.withExtra(req.Metadata)
	if e.options != nil {
		if req.Options, err = optionsOver(defaults.Options, e.options); err != nil {
			return job, fmt.Errorf("options: %w", p.plain(err))
		}
	}
	return job, nil
}

// optionsOver returns the defaults, overridden by the options of a line. It does not modify the slices of the
// defaults, because all lines share them.
func optionsOver(defaults clichain.Options, given json.RawMessage) (o clichain.Options, err error) {
	own, err := json.Marshal(defaults)
	for _, data := range [][]byte{own, given} {
		if err == nil {
			err = json.Unmarshal(data, &o)
		}
	}
	return o, err
}

func set[T any](value *T, given *T) {
	if given != nil {
		*value = *given
	}
}

// lineID is an id, which may be a JSON number.
type lineID string

// UnmarshalJSON keeps all digits of a number.
func (id *lineID) UnmarshalJSON(data []byte) error {
	var number json.Number
	text := (*string)(id)
	if err := json.Unmarshal(data, text); err != nil {
		if json.Unmarshal(data, &number) != nil {
			return err
		}
		*text = number.String()
	}
	if n := len(*text); n == 0 || n > maxID {
		return fmt.Errorf("it has %d bytes: use 1 to %d, or leave it out", n, maxID)
	}
	return nil
}

// conversation returns the system prompt and the messages. The default system prompt applies to lines without a
// system prompt.
func (e *entry) conversation(defaults []clichain.Message) (all []clichain.Message, err error) {
	switch {
	case e.prompt != nil && e.messages != nil:
		return nil, errors.New("has both prompt and messages: leave one of them out")
	case e.prompt == nil && e.messages == nil:
		return nil, errNothingAsked
	}
	isSystem := func(m message) bool { return m.Role == clichain.RoleSystem }
	if e.system != nil {
		all = append(all, clichain.Message{Role: clichain.RoleSystem, Content: *e.system})
	} else if !slices.ContainsFunc(e.messages, isSystem) {
		all = append(all, defaults...)
	}
	for _, m := range e.messages {
		all = append(all, clichain.Message(m))
	}
	if e.prompt != nil {
		all = append(all, clichain.Message{Role: clichain.RoleUser, Content: *e.prompt})
	}
	return all, nil
}
