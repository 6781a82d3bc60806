package structured

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/clichain/clichain/internal/plaintext"
)

// maxMismatches bounds how many are told to the model.
const maxMismatches = 10

// mismatches lists what does not match, a line each: place and problem, in an
// order that is always the same.
func mismatches(err *jsonschema.ValidationError, most int) string {
	lines := leaves(err, nil)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// maxLeaves bounds what is looked at to make that list.
const maxLeaves = 1000

// leaves are the findings that have no cause below them.
func leaves(err *jsonschema.ValidationError, lines []string) []string {
	if len(lines) >= maxLeaves {
		return lines
	}
	for _, cause := range err.Causes {
		lines = leaves(cause, lines)
	}
	if len(err.Causes) == 0 {
		lines = append(lines, plaintext.OneLine(strings.Replace(err.Error(), "at '': ", "at the top: ", 1)))
	}
	return lines
}
