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
	// maxLine is the maximum length of an input line in bytes. It is far more than any model accepts.
	maxLine = 16 << 20
	// maxShown is the number of bytes that are kept of a line that is too long, so that the user can recognize it.
	maxShown = 1 << 10
)

// Line is one line of a file without its newline, one row of a table, or one element of an array.
type Line struct {
	Number int    // starts at 1
	Text   []byte // valid until the next line is read
	Long   bool   // the line exceeds the limit, and Text is its beginning
	Err    error  // why Text is not a request; later lines may be valid
}

// readLines yields the lines of r that are not blank, without a byte order mark. It truncates lines that are longer
// than bound.
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

// readLine reads a line and discards the bytes that exceed bound.
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

// countLines counts the lines that are not blank. whole reports whether it has read r to the end.
func countLines(r io.Reader, ended func() bool) (n int, whole bool) {
	for _, err := range readLines(r, maxShown) {
		if err != nil || ended() {
			return n, false
		}
		n++
	}
	return n, true
}

// errJSONInText is the error for a line that looks like a request in an input that was detected as plain text.
var errJSONInText = errors.New("looks like JSON, but the first line does not: use --format jsonl, " +
	"or --format text if each line is a prompt")

// readText yields each line that is not blank as a prompt. If the format was guessed, it reports a line of JSON as an
// error.
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
				prompt, _ := json.Marshal(string(line.Text)) // marshaling a string cannot fail
				line.Text = []byte(`{"prompt":` + string(prompt) + `}`)
			}
			if !yield(line, err) {
				return
			}
		}
	}
}
