package batch

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
)

// Format is how an input holds its requests.
type Format string

// The formats.
const (
	JSONL  Format = "jsonl"  // one JSON object a line
	JSON   Format = "json"   // an array of objects or prompts, or objects one after another
	CSV    Format = "csv"    // a header, and rows of values between commas or semicolons
	TSV    Format = "tsv"    // the same with tabs
	Text   Format = "text"   // one prompt a line
	OpenAI Format = "openai" // one request of OpenAI's batch API a line
)

// Formats are those that there are.
var Formats = []Format{JSONL, JSON, CSV, TSV, Text, OpenAI}

// endings are the formats of names.
var endings = map[string]Format{
	".jsonl": JSONL, ".ndjson": JSONL, ".json": JSONL, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".txt": Text, ".text": Text,
}

// errUnknownFormat is of an input that may be a table or a list of prompts.
var errUnknownFormat = errors.New("the format cannot be told: say --format csv (with a column \"prompt\"), " +
	"or --format text, where each line is a prompt")

// guess tells the format of an input by the first line that is not blank, and then by the ending of its name.
func guess(name string, line []byte) (Format, error) {
	line = bytes.TrimSpace(line)
	named := endings[strings.ToLower(filepath.Ext(name))]
	sure := named == CSV || named == TSV || named == Text
	switch {
	case bytes.IndexByte(line, 0) >= 0:
		return "", errors.New("is no text: save it as UTF-8")
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
	for _, f := range []Format{TSV, CSV} {
		switch header := splitHeader(line, delimiter(f, line)); {
		case slices.ContainsFunc(header, asks) && (f == CSV || len(header) > 1):
			return f, nil
		case len(header) > 1 && !slices.ContainsFunc(header, isProse):
			return "", errUnknownFormat
		}
	}
	return Text, nil
}

// opensArray reports whether a line begins an array; in a file whose name says something else only if it is one.
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

// splitHeader are the names in a line, where it is the header of a table.
func splitHeader(line []byte, comma rune) (names []string) {
	for _, name := range strings.Split(string(line), string(comma)) {
		names = append(names, strings.Trim(name, `"`))
	}
	return names
}

// asks reports whether a column says what is asked.
func asks(name string) bool { name = columnName(name); return name == "prompt" || name == "messages" }

// columnLike is one word or two.
var columnLike = regexp.MustCompile(`^[\pL\d_][\pL\d_.-]{0,39}( [\pL\d_.-]{1,39})?$`)

// isProse reports whether a text is no name of a column.
func isProse(name string) bool { return !columnLike.MatchString(name) }

// delimiter stands between the values of a table. Some programs write semicolons, because commas are in numbers.
func delimiter(f Format, line []byte) rune {
	switch {
	case f == TSV:
		return '\t'
	case bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, ';') >= 0:
		return ';'
	}
	return ','
}

// headBytes bounds what is read to tell a format.
const headBytes = 64 << 10

// firstLine returns the first line that is not blank, or its beginning, and leaves it to be read.
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

// errLongRecord is of a row or an element that does not end.
var errLongRecord = fmt.Errorf("a record is longer than %d MiB: is a quotation mark missing?", maxLine>>20)

// bounded is a reader that gives no more than left, which its user sets again for each record.
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
