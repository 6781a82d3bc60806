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
	if c, ok := value.(*Cassette); ok {
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
		var whole strings.Builder
		for i, item := range v {
			line, _ := item.(string)
			whole.WriteString(line)
			s.value(fmt.Sprintf("%s[%d]", at, i), item)
		}
		s.text(at, whole.String()) // a text of several lines
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s.text(at+" (the name of a member)", name)
			s.value(at+"."+name, v[name])
		}
	}
}

// parts looks at the texts of events of one kind together.
func (s *scanner) parts(name string, c *Cassette) {
	for i := range c.Calls {
		texts := map[call.EventKind]string{}
		for _, e := range c.Calls[i].Events {
			texts[e.Kind] += string(e.Text)
		}
		for _, kind := range slices.Sorted(maps.Keys(texts)) {
			s.text(fmt.Sprintf("%s.calls[%d].events (%s)", name, i, kind), texts[kind])
		}
	}
}
