package recording

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Stream is the input or output of a run. In JSON it is the list of its lines, each with its line end, so that a
// difference is readable and a last line that was cut stays cut. If it is not UTF-8, it is an object with its bytes.
type Stream string

type encoded struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements [json.Marshaler].
func (s Stream) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(s)) {
		return json.Marshal(encoded{[]byte(s)})
	}
	lines := []string{}
	for line := range strings.Lines(string(s)) {
		lines = append(lines, line)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(lines)
	return b.Bytes(), err
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Stream) UnmarshalJSON(data []byte) error {
	var lines []string
	if bytes.HasPrefix(data, []byte("{")) {
		var e encoded
		err := json.Unmarshal(data, &e)
		*s = Stream(e.Base64)
		return err
	}
	err := json.Unmarshal(data, &lines)
	*s = Stream(strings.Join(lines, ""))
	return err
}
