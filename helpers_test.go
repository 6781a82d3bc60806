package clichain_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/stretchr/testify/require"
)

const cities = `{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}},"required":["city"],"additionalProperties":false}`

func system(text string) clichain.Message {
	return clichain.Message{Role: clichain.RoleSystem, Content: text}
}

func named(spec clichain.CliSpec, name string) clichain.CliSpec {
	spec.Name = name
	return spec
}

func put(rest cooldown.State) func(cooldown.State) cooldown.State {
	return func(cooldown.State) cooldown.State { return rest }
}

func requireOneLine(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) || r == '\u2028' || r == '\u2029', "%q in %q", r, text)
	}
}

// inTime calls try with the timeout, and with longer ones while try returns false because the CLI did too little before
// the timeout. A busy machine starts a CLI slowly.
func inTime(t *testing.T, timeout time.Duration, try func(timeout time.Duration) bool) {
	t.Helper()
	for ; !try(timeout); timeout *= 4 {
		require.Less(t, timeout, time.Minute, "no timeout is long enough")
	}
}

// init1 is claude's first event.
const init1 = `{"type":"system","subtype":"init","session_id":"s1","model":"opus"}`

// writeProgram writes a program in another process, so that this process does not have it open when it starts.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `cat >"$1" && chmod 755 "$1"`, "sh", path)
	cmd.Stdin = strings.NewReader(text)
	require.NoError(t, cmd.Run())
}
