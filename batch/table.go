package batch

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

// columnName is what the name of a column means.
func columnName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// tableRows yields the rows of a table as JSON objects. The first one has the names of the columns.
func tableRows(r io.Reader, comma rune) iter.Seq2[rawLine, error] {
	return func(yield func(rawLine, error) bool) {
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
			yield(rawLine{number: 1}, err)
			return
		}
		for {
			source.left = maxLine
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			var line rawLine
			if len(row) > 0 {
				line.number, _ = rows.FieldPos(0)
			}
			switch ragged := errors.Is(err, csv.ErrFieldCount); {
			case ragged:
				line.text, _ = json.Marshal(row) // texts always marshal
				line.mistake = fmt.Errorf("has %d values, and the header %d", len(row), len(header))
			case err != nil:
				yield(line, rowError(err))
				return
			case slices.IndexFunc(row, func(s string) bool { return strings.TrimSpace(s) != "" }) < 0:
				continue
			default:
				line.text, line.mistake = rowObject(header, row)
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// rowError says what to do about a table that breaks off.
func rowError(err error) error {
	if errors.Is(err, csv.ErrBareQuote) || errors.Is(err, csv.ErrQuote) {
		return fmt.Errorf("%w: write a value with a quotation mark as \"...\", and the mark in it twice", err)
	}
	return err
}

// checkHeader refuses a table without a column that asks, and columns that seem to have an effect and have none.
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
		if err := mistaken(name); err != nil {
			return fmt.Errorf("column %w", err)
		}
	}
	if !slices.ContainsFunc(header, asks) {
		return fmt.Errorf("no column is named \"prompt\": the columns are %q: name one so in the first line, "+
			"or say --format text, where each line is a prompt", header)
	}
	return nil
}

// rowObject is a row as the object that a line of JSON has. A value that is empty says nothing.
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
		text, _ := json.Marshal(value) // a text always marshals
		if known && f.json {
			if text = []byte(value); name == "idempotent" {
				text = bytes.ToLower(text)
			}
			if !json.Valid(text) {
				text, _ := json.Marshal(row)
				return text, fmt.Errorf("%s: has to be %s, as JSON", name, f.kind)
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
