package console

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

type brokenOutput struct{}

func (brokenOutput) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// If the failure cannot be written as JSON, the user must see it anyway.
func TestReportWithoutOutput(t *testing.T) {
	var stderr bytes.Buffer
	e := &Env{Out: brokenOutput{}, Err: &stderr}
	require.Equal(t, ExitFailed, e.Report(t.Context(), e.PrintJSON("text"), true))
	require.Equal(t, "clichain: cannot write the output: no space left\n", stderr.String())
}
