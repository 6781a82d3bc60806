package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

// maxSpecFile bounds what is read of a file: just above what specs.Load takes.
const maxSpecFile = 5 << 20

// loadFile reads a file of specs. The error names the file, and for each
// mistake the line and the path within it.
func loadFile(source, file string) ([]clichain.CliSpec, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usagef("%s: %v", source, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSpecFile))
	if err != nil {
		return nil, usagef("%s: %v", source, err)
	}
	list, err := specs.Load(bytes.NewReader(data))
	if err != nil {
		return nil, usagef("%s: %s", source, strings.Join(mistakes(file, data, err), "\n  "))
	}
	return list, nil
}

var unknownField = regexp.MustCompile(`unknown field "(.+)"`)

// mistakes is a line of text for each mistake that Load has found.
func mistakes(file string, data []byte, err error) []string {
	places := placesOf(data)
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []string
		for _, e := range joined.Unwrap() {
			list = append(list, invalid(file, places, e)...)
		}
		return list
	}
	text := strings.TrimPrefix(err.Error(), "specs: ")
	if m := unknownField.FindStringSubmatch(text); m != nil {
		for _, p := range places {
			if strings.HasSuffix(p.path, "."+m[1]) {
				return []string{fmt.Sprintf("%s: line %d: %s is no field of a spec", file, p.line, p.path)}
			}
		}
	}
	return []string{file + ": " + text}
}

// invalid tells of the mistakes in one spec. Load puts "specs[i]" in front.
func invalid(file string, places []place, err error) []string {
	index, text, _ := strings.Cut(err.Error(), ": ")
	found := specErrors(err)
	if len(found) == 0 {
		return []string{fmt.Sprintf("%s: line %d: %s: %s", file, lineOf(places, index), index, text)}
	}
	var list []string
	for _, e := range found {
		path := index + "." + e.Path
		list = append(list, fmt.Sprintf("%s: line %d: %s.%v", file, lineOf(places, path), index, e))
	}
	return list
}

// specErrors collects the mistakes in an error, however they are wrapped.
func specErrors(err error) (list []*clichain.SpecError) {
	switch e := err.(type) {
	case *clichain.SpecError:
		return []*clichain.SpecError{e}
	case interface{ WrappedErrors() []error }:
		for _, inner := range e.WrappedErrors() {
			list = append(list, specErrors(inner)...)
		}
	case interface{ Unwrap() error }:
		return specErrors(errors.Unwrap(err))
	}
	return list
}

// place says on which line a value of a JSON document begins.
type place struct {
	path string
	line int
}

// lineOf is the line of the value at the path, or of the nearest one around it.
func lineOf(places []place, path string) int {
	best := place{line: 1}
	for _, p := range places {
		rest, ok := strings.CutPrefix(path, p.path)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && len(p.path) > len(best.path) {
			best = p
		}
	}
	return best.line
}

// placesOf lists the values of a document as far as it can be read, with paths
// such as "specs[0].args[2]"; a lone object counts as the first of a list.
func placesOf(data []byte) []place {
	root := "specs"
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		root = "specs[0]"
	}
	w := placer{data: data, decoder: json.NewDecoder(bytes.NewReader(data)), line: 1}
	w.value(root)
	return w.places
}

type placer struct {
	data    []byte
	decoder *json.Decoder
	places  []place
	counted int64 // bytes whose lines are in line
	line    int
}

// value walks one value and reports whether there may be more.
func (w *placer) value(path string) bool {
	token, err := w.decoder.Token()
	if err != nil {
		return false
	}
	offset := w.decoder.InputOffset()
	w.line += bytes.Count(w.data[w.counted:offset], []byte{'\n'})
	w.counted = offset
	w.places = append(w.places, place{path, w.line})
	switch token {
	case json.Delim('['):
		for i := 0; w.decoder.More(); i++ {
			if !w.value(fmt.Sprintf("%s[%d]", path, i)) {
				return false
			}
		}
	case json.Delim('{'):
		for w.decoder.More() {
			key, err := w.decoder.Token()
			if err != nil || !w.value(fmt.Sprintf("%s.%v", path, key)) {
				return false
			}
		}
	default:
		return true
	}
	_, err = w.decoder.Token() // the end of the list or the object
	return err == nil
}
