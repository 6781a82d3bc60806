package structured

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/clichain/clichain/internal/plaintext"
)

// finding is one mistake in a value. Its text is formatted only when it is reported.
type finding struct {
	place []string
	say   string
	args  []any
}

func (f finding) line() string {
	at := ""
	for _, step := range f.place {
		at += "/" + pointerStep.Replace(step)
	}
	return plaintext.OneLine(atPlace(at) + ": " + fmt.Sprintf(f.say, f.args...))
}

// quote puts a text in single quotes.
func quote(text string) string {
	text = strconv.Quote(text)
	text = strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(text, `'`, `\'`) + "'"
}

// quoted is a text that a finding shows in quotes.
type quoted string

// String returns the text in single quotes.
func (q quoted) String() string { return quote(string(q)) }

// names holds names of properties.
type names []string

// String returns the names in single quotes.
func (n names) String() string {
	list := make([]string, len(n))
	for i, name := range n {
		list[i] = quote(name)
	}
	return strings.Join(list, ", ")
}

// allowed holds the values of const or enum.
type allowed struct {
	values  []any
	keyword string
}

// String returns the requirement, such as "value must be 1".
func (a allowed) String() string {
	list := make([]string, len(a.values))
	for i, value := range a.values {
		switch value := value.(type) {
		case map[string]any, []any:
			return "'" + a.keyword + "' failed"
		case string:
			list[i] = quote(value)
		case nil:
			list[i] = "null"
		default:
			list[i] = fmt.Sprint(value)
		}
	}
	if len(list) == 1 {
		return "value must be " + list[0]
	}
	return "value must be one of " + strings.Join(list, ", ")
}
