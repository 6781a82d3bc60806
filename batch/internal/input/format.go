package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The formats of an input.
const (
	JSONL  = "jsonl"
	JSON   = "json"
	CSV    = "csv"
	TSV    = "tsv"
	Text   = "text"
	OpenAI = "openai"
)

// extensions maps file name extensions to formats.
var extensions = map[string]string{
	".jsonl": JSONL, ".ndjson": JSONL, ".json": JSONL, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".txt": Text, ".text": Text,
}

// errUnknownFormat is the error for an input that may be a table or a list of prompts.
var errUnknownFormat = errors.New("the format is unknown: use --format csv for a table with a column \"prompt\", " +
	"or --format text if each line is a prompt")

// guess determines the format of an input from the first line that is not blank, and then from the file name
// extension.
func guess(name string, line []byte) (string, error) {
	line = bytes.TrimSpace(line)
	named := extensions[strings.ToLower(filepath.Ext(name))]
	sure := named == CSV || named == TSV || named == Text
	switch {
	case bytes.IndexByte(line, 0) >= 0:
		return "", errors.New("is not text: save it as UTF-8")
	case isOpenAI(line):
		return OpenAI, nil
	case json.Valid(line) && bytes.HasPrefix(line, []byte("{")):
		return JSONL, nil
	case opensArray(line, sure) || string(line) == "{":
		return JSON, nil
	case named != "":
		return named, nil
	case len(line) == 0 || line[0] == '{':
		return JSONL, nil
	}
	for _, f := range []string{TSV, CSV} {
		switch header := splitHeader(line, delimiter(f, line)); {
		case slices.ContainsFunc(header, asks) && (f == CSV || len(header) > 1):
			return f, nil
		case len(header) > 1 && !slices.ContainsFunc(header, isProse):
			return "", errUnknownFormat
		}
	}
	return Text, nil
}

// opensArray reports whether a line begins an array. If the file name indicates another format (sure), the line must
// be a complete array.
func opensArray(line []byte, sure bool) bool {
	if len(line) == 0 || line[0] != '[' {
		return false
	}
	if sure {
		return json.Valid(line)
	}
	rest := bytes.TrimSpace(line[1:])
	return len(rest) == 0 || bytes.IndexByte([]byte(`{"]`), rest[0]) >= 0
}

// splitHeader returns the column names if the line is the header of a table.
func splitHeader(line []byte, comma rune) (names []string) {
	for _, name := range strings.Split(string(line), string(comma)) {
		names = append(names, strings.Trim(name, `"`))
	}
	return names
}

// asks reports whether a column contains prompts or messages.
func asks(name string) bool { name = columnName(name); return name == "prompt" || name == "messages" }

// columnLike matches one or two words. Compiling the pattern takes 4 ms, so it is compiled on first use.
var columnLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\d_][\pL\d_.-]{0,39}( [\pL\d_.-]{1,39})?$`)
})

// isProse reports whether a text cannot be a column name.
func isProse(name string) bool { return !columnLike().MatchString(name) }

// delimiter returns the character that separates the values of a table. Some programs write semicolons, because their
// decimal numbers contain commas.
func delimiter(format string, line []byte) rune {
	switch {
	case format == TSV:
		return '\t'
	case bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, ';') >= 0:
		return ';'
	}
	return ','
}

// headBytes limits the number of bytes that are read to detect a format.
const headBytes = 64 << 10

// firstLine returns the first line that is not blank, or the beginning of that line, without advancing the reader.
func firstLine(b *bufio.Reader) ([]byte, error) {
	for n := 1; ; n = b.Buffered() + 1 {
		_, err := b.Peek(n)
		head, _ := b.Peek(b.Buffered())
		head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
		line, _, whole := bytes.Cut(head, []byte("\n"))
		switch {
		case whole, errors.Is(err, io.EOF), errors.Is(err, bufio.ErrBufferFull):
			return line, nil
		case err != nil:
			return nil, err
		}
	}
}

// errLongRecord is the error for a row or an element that has no end within the limit.
var errLongRecord = fmt.Errorf("a record is longer than %d MiB: is a quotation mark missing?", maxLine>>20)

// bounded is a reader that returns at most left bytes. The caller resets left for each record.
type bounded struct {
	r    io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRecord
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
