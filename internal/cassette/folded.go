package cassette

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// folded is a text. In JSON, a text of several lines is the list of its lines, so that a review shows each line. The
// lines have their line breaks: the text is their concatenation.
type folded string

// MarshalJSON returns a string, or a list of strings for a text of several lines.
func (f folded) MarshalJSON() ([]byte, error) {
	var value any = string(f)
	if lines := slices.Collect(strings.Lines(string(f))); len(lines) > 1 {
		value = lines
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

// UnmarshalJSON parses both forms.
func (f *folded) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*string)(f))
	}
	var lines []string
	err := json.Unmarshal(data, &lines)
	*f = folded(strings.Join(lines, ""))
	return err
}
