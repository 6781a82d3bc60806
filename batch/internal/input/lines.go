package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"unicode/utf8"
)

const (
	// maxLine bounds a line of the input, far above what any model takes.
	maxLine = 16 << 20
	// maxShown is how many bytes of a line that is too long are kept, to recognize it.
	maxShown = 1 << 10
)

// Line is one line of a file without its newline, one row of a table or one element of an array.
type Line struct {
	Number int    // from 1
	Text   []byte // valid until the next line is read
	Long   bool   // the line is longer than the bound, and Text its beginning
	Err    error  // why Text is no request, though later lines may be
}

// readLines yields the lines of r that are not blank, without a byte order mark. It drops the end of a line that is
// longer than bound.
func readLines(r io.Reader, bound int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		buffered := bufio.NewReaderSize(r, 64<<10)
		var text []byte
		for number := 1; ; number++ {
			var long bool
			var err error
			text, long, err = readLine(buffered, text[:0], bound)
			if number == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			line := Line{Number: number, Text: bytes.TrimSuffix(text, []byte("\r")), Long: long}
			if len(bytes.TrimSpace(text)) > 0 && !yield(line, nil) {
				return
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Line{Number: number}, err)
				}
				return
			}
		}
	}
}

// readLine reads a line, and drops the bytes over the bound.
func readLine(r *bufio.Reader, text []byte, bound int) (_ []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		ended := err == nil
		if ended {
			piece = piece[:len(piece)-1]
		}
		if !long && len(text)+len(piece) > bound {
			long = true
			text = append(text, piece...)
			text = text[:min(len(text), maxShown)]
		} else if !long {
			text = append(text, piece...)
		}
		if ended || !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// countLines counts the lines that are not blank. whole reports whether it has read all of r.
func countLines(r io.Reader, ended func() bool) (n int, whole bool) {
	for _, err := range readLines(r, maxShown) {
		if err != nil || ended() {
			return n, false
		}
		n++
	}
	return n, true
}

// errJSONInText is the error for a line that may be a request, in an input that was taken for plain text.
var errJSONInText = errors.New("looks like JSON, and the first line does not: say --format jsonl, " +
	"or --format text if each line is a prompt")

// readText yields each line that is not blank as a prompt. If the format was guessed, a line of JSON is an error.
func readText(r io.Reader, guessed bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for line, err := range readLines(r, maxLine) {
			if err == nil && !line.Long {
				if !utf8.Valid(line.Text) {
					line.Err = errNoUTF8
				}
				if guessed && line.Text[0] == '{' && json.Valid(line.Text) {
					yield(line, errJSONInText)
					return
				}
				prompt, _ := json.Marshal(string(line.Text)) // a text always marshals
				line.Text = []byte(`{"prompt":` + string(prompt) + `}`)
			}
			if !yield(line, err) {
				return
			}
		}
	}
}
