package batch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"
)

// arrayLines yields the elements of an array, or values one after another, by their numbers from 1. A text is a prompt.
func arrayLines(r io.Reader) iter.Seq2[rawLine, error] {
	return func(yield func(rawLine, error) bool) {
		source := &bounded{r, maxLine}
		buffered := bufio.NewReader(source)
		first, _ := firstLine(buffered)
		d := json.NewDecoder(buffered)
		isArray := len(first) > 0 && first[0] == '['
		if isArray {
			_, _ = d.Token()
		}
		for number := 1; ; number++ {
			source.left = maxLine
			line := rawLine{number: number}
			if isArray && !d.More() {
				if err := arrayEnd(d); err != nil {
					yield(line, err)
				}
				return
			}
			err := d.Decode((*json.RawMessage)(&line.text))
			if errors.Is(err, io.EOF) && !isArray {
				return
			}
			if err != nil {
				yield(line, fmt.Errorf("is no JSON: %w", err))
				return
			}
			if line.text[0] == '"' {
				line.text = []byte(`{"prompt":` + string(line.text) + `}`)
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// arrayEnd makes sure that an array ends, and nothing follows.
func arrayEnd(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("the array does not end: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the array")
	}
	return nil
}

// skipMark skips a byte order mark.
func skipMark(b *bufio.Reader) {
	if mark, _ := b.Peek(3); string(mark) == "\ufeff" {
		_, _ = b.Discard(3)
	}
}

// errJSONInText is of a line that may be a request, in an input that was taken for plain text.
var errJSONInText = errors.New("looks like JSON, and the first line does not: say --format jsonl, " +
	"or --format text if each line is a prompt")

// textLines yields each line that is not blank as a prompt. A guess ends at a line of JSON.
func textLines(r io.Reader, guessed bool) iter.Seq2[rawLine, error] {
	return func(yield func(rawLine, error) bool) {
		for line, err := range rawLines(r, maxLine) {
			if err == nil && !line.long {
				if !utf8.Valid(line.text) {
					line.mistake = errNoUTF8
				}
				if guessed && line.text[0] == '{' && json.Valid(line.text) {
					yield(line, errJSONInText)
					return
				}
				prompt, _ := json.Marshal(string(line.text)) // a text always marshals
				line.text = []byte(`{"prompt":` + string(prompt) + `}`)
			}
			if !yield(line, err) {
				return
			}
		}
	}
}
