package input

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// readValues yields the elements of an array, or consecutive JSON values, with their numbers, starting at 1. A string
// is a prompt.
func readValues(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
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
			line := Line{Number: number}
			if isArray && !d.More() {
				if err := arrayEnd(d); err != nil {
					yield(line, err)
				}
				return
			}
			err := d.Decode((*json.RawMessage)(&line.Text))
			if errors.Is(err, io.EOF) && !isArray {
				return
			}
			if err != nil {
				yield(line, fmt.Errorf("is not valid JSON: %w", err))
				return
			}
			if line.Text[0] == '"' {
				line.Text = []byte(`{"prompt":` + string(line.Text) + `}`)
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// arrayEnd returns an error if the array is incomplete or if more data follows it.
func arrayEnd(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("the array does not end: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data follows the array")
	}
	return nil
}
