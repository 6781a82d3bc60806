package cassette

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/plaintext"
)

// SecretError is the error for a recording that contains a secret. It does not contain the secret.
type SecretError struct {
	// Field is the place of the secret, such as "request.messages[0].content".
	Field string
	// Kind describes the secret.
	Kind string
}

// Error returns the field and the kind.
func (e *SecretError) Error() string { return e.Field + " contains " + e.Kind }

// Secrets returns a [*SecretError] if a value looks like a secret, or contains the value of an environment variable of
// this process that holds one. name is the place of the value. It looks at texts that events deliver in parts, too.
func Secrets(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return err
	}
	s := &scanner{env: plaintext.NewRedactor(os.Environ())}
	s.value(name, tree)
	if c, ok := value.(*Call); ok {
		s.parts(name, c)
	}
	if s.found == nil {
		return nil
	}
	return s.found
}

type scanner struct {
	env   *plaintext.Redactor
	found *SecretError // the first one
}

func (s *scanner) text(at, text string) {
	var shapes *plaintext.Redactor // without an environment
	switch {
	case s.found != nil:
	case shapes.Clean(text) != text:
		s.found = &SecretError{at, "a text that looks like a key or a password"}
	case s.env.CleanDisguised(text) != text:
		s.found = &SecretError{at, "the value of " + variable(text)}
	}
}

// variable returns the name of the environment variable whose value is in a text.
func variable(text string) string {
	for _, kv := range os.Environ() {
		if plaintext.NewRedactor([]string{kv}).CleanDisguised(text) != text {
			name, _, _ := strings.Cut(kv, "=")
			return "the environment variable " + name
		}
	}
	return "a secret environment variable"
}

func (s *scanner) value(at string, value any) {
	switch v := value.(type) {
	case string:
		s.text(at, v)
	case []any:
		if text, ok := joined(v); ok {
			s.text(at, text)
			return
		}
		for i, item := range v {
			s.value(fmt.Sprintf("%s[%d]", at, i), item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s.text(at+" (the name of a member)", name)
			s.value(at+"."+name, v[name])
		}
	}
}

// joined returns the concatenation of strings, which may be the lines of a text. ok is false for other values.
func joined(list []any) (text string, ok bool) {
	var b strings.Builder
	for _, item := range list {
		line, ok := item.(string)
		if !ok {
			return "", false
		}
		b.WriteString(line)
	}
	return b.String(), true
}

// parts looks at the texts of events of one kind together.
func (s *scanner) parts(name string, c *Call) {
	texts := map[call.EventKind][]byte{}
	for _, e := range c.Events {
		texts[e.Kind] = append(texts[e.Kind], e.Text...)
	}
	for _, kind := range slices.Sorted(maps.Keys(texts)) {
		s.text(fmt.Sprintf("%s.events (%s)", name, kind), string(texts[kind]))
	}
}
