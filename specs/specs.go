// Package specs holds what clichain knows about each AI coding CLI, as data.
// It is the only place where a CLI's name means anything.
package specs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/clichain/clichain"
)

// All returns the built-in specs in the default fallback order. The values are
// fresh: change them freely.
func All() []clichain.CliSpec {
	return []clichain.CliSpec{Claude(), Gemini(), Cursor(), OpenCode(), Codex()}
}

// ByName returns the built-in spec of that name, such as "claude".
func ByName(name string) (clichain.CliSpec, bool) {
	for _, spec := range All() {
		if spec.Name == name {
			return spec, true
		}
	}
	return clichain.CliSpec{}, false
}

// maxSpecFile bounds what Load reads.
const maxSpecFile = 4 << 20

// Load reads specs from JSON: one object, or an array of them. Unknown fields
// are mistakes. The error names the line of a syntax error, and the path of
// every other mistake.
func Load(r io.Reader) ([]clichain.CliSpec, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSpecFile+1))
	if err != nil {
		return nil, fmt.Errorf("specs: %w", err)
	}
	if len(data) > maxSpecFile {
		return nil, fmt.Errorf("specs: the file is over %d bytes", maxSpecFile)
	}
	list, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("specs: %w", position(data, err))
	}
	return list, check(list)
}

func decode(data []byte) ([]clichain.CliSpec, error) {
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		return decodeAs[[]clichain.CliSpec](data)
	}
	spec, err := decodeAs[clichain.CliSpec](data)
	return []clichain.CliSpec{spec}, err
}

func decodeAs[T any](data []byte) (value T, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&value); err != nil {
		return value, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return value, &offsetError{d.InputOffset(), errors.New("text after the end of the specs")}
	}
	return value, nil
}

// check validates every spec and refuses two of one name.
func check(list []clichain.CliSpec) error {
	var all []error
	seen := map[string]int{}
	for i, spec := range list {
		if err := spec.Validate(); err != nil {
			all = append(all, fmt.Errorf("specs[%d]: %w", i, err))
		}
		if first, dup := seen[spec.Name]; dup {
			all = append(all, fmt.Errorf("specs[%d].name: %q is the name of specs[%d] already", i, spec.Name, first))
		}
		seen[spec.Name] = i
	}
	return errors.Join(all...)
}

// offsetError is a mistake with its place.
type offsetError struct {
	offset int64
	err    error
}

func (e *offsetError) Error() string { return e.err.Error() }
func (e *offsetError) Unwrap() error { return e.err }

// position puts the line in front of a decoding error, and the field's path,
// where the decoder knows them.
func position(data []byte, err error) error {
	var (
		offset int64
		at     *offsetError
		syntax *json.SyntaxError
		typed  *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &at):
		offset = at.offset
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typed):
		offset = typed.Offset
		err = fmt.Errorf("%s: a %s stands where %v must", typed.Field, typed.Value, typed.Type)
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = int64(len(data))
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty")
	default: // an unknown field: its name has to do
		return err
	}
	line := 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte{'\n'})
	return fmt.Errorf("line %d: %w", line, err)
}
