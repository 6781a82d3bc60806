package input

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// columnName returns the field name that corresponds to a column.
func columnName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// readTable yields the rows of a table as JSON objects. The first row contains the column names.
func readTable(r io.Reader, comma rune) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		source := &bounded{r, maxLine}
		rows := csv.NewReader(source)
		rows.Comma = comma
		header, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = checkHeader(header)
		}
		if err != nil {
			yield(Line{Number: 1}, err)
			return
		}
		for {
			source.left = maxLine
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			var line Line
			if len(row) > 0 {
				line.Number, _ = rows.FieldPos(0)
			}
			switch ragged := errors.Is(err, csv.ErrFieldCount); {
			case ragged:
				line.Text, _ = json.Marshal(row) // marshaling strings cannot fail
				line.Err = fmt.Errorf("has %d values, but the header has %d", len(row), len(header))
			case err != nil:
				yield(line, rowError(err))
				return
			case slices.IndexFunc(row, func(s string) bool { return strings.TrimSpace(s) != "" }) < 0:
				continue
			default:
				line.Text, line.Err = rowObject(header, row)
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// rowError adds a remedy to the error of a table that cannot be read further.
func rowError(err error) error {
	if errors.Is(err, csv.ErrBareQuote) || errors.Is(err, csv.ErrQuote) {
		return fmt.Errorf("%w: quote a value that contains a quotation mark, and double the mark", err)
	}
	return err
}

// checkHeader returns an error for a table without a column of prompts, and for columns that resemble a field but
// have no effect.
func checkHeader(header []string) error {
	seen := map[string]bool{}
	for _, name := range header {
		name = columnName(name)
		if name != "" && seen[name] {
			return fmt.Errorf("two columns are named %q: rename one", name)
		}
		seen[name] = true
		if _, known := fields[name]; known || name == "" {
			continue
		}
		if err := checkUnknown(name); err != nil {
			return fmt.Errorf("column %w", err)
		}
	}
	if !slices.ContainsFunc(header, asks) {
		return fmt.Errorf("no column is named \"prompt\": the columns are %q: rename one in the first line, "+
			"or use --format text if each line is a prompt", header)
	}
	return nil
}

// rowObject returns a row as a JSON object. It omits empty values.
func rowObject(header, row []string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, value := range row {
		name := columnName(header[i])
		f, known := fields[name]
		if !known {
			name = strings.TrimSpace(header[i])
		}
		if name == "" || value == "" && name != "prompt" {
			continue
		}
		text, _ := json.Marshal(value) // marshaling a string cannot fail
		if known && f.json {
			if text = []byte(value); name == "idempotent" {
				text = bytes.ToLower(text)
			}
			if !json.Valid(text) {
				text, _ := json.Marshal(row)
				return text, fmt.Errorf("%s: must be %s, encoded as JSON", name, f.kind)
			}
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(name)
		fmt.Fprintf(&b, "%s:%s", key, text)
	}
	b.WriteByte('}')
	if !utf8.ValidString(strings.Join(row, "")) {
		return b.Bytes(), errNoUTF8
	}
	return b.Bytes(), nil
}
