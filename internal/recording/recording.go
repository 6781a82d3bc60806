// Package recording reads and writes runs of CLIs, one JSON file for each run.
package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/clichain/clichain/clispec"
)

// Run is one run of a CLI.
type Run struct {
	Recorded time.Time          `json:"recorded,omitzero"` // approximate; messages about a limit may omit the day
	Argv     []string           `json:"argv,omitempty"`    // begins with the name of the CLI
	Output   clispec.OutputMode `json:"output,omitempty"`  // the mode that Argv selects
	Stdin    Stream             `json:"stdin,omitempty"`
	Stdout   Stream             `json:"stdout,omitempty"`
	Stderr   Stream             `json:"stderr,omitempty"`
	ExitCode *int               `json:"exit_code,omitempty"` // nil if TimedOut
	TimedOut bool               `json:"timed_out,omitempty"` // the run was stopped after Seconds
	Seconds  float64            `json:"seconds,omitempty"`
	// Expected contains the expected results of the run, by the name of the check. The flag -update of the tests writes
	// them.
	Expected map[string]json.RawMessage `json:"expected,omitempty"`
}

// Read reads the file of a run.
func Read(path string) (Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Run{}, err
	}
	r, err := Decode(data)
	if err != nil {
		return Run{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Decode reads a run. An unknown field is an error, as is a run without an end.
func Decode(data []byte) (r Run, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Run{}, err
	}
	if (r.ExitCode == nil) != r.TimedOut {
		return Run{}, errors.New("set either exit_code or timed_out")
	}
	return r, nil
}

// Write writes the file of a run.
func Write(path string, r Run) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
