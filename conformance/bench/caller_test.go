package bench_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// callerVariable tells this test binary to be a program that does one job.
const callerVariable = "BENCH_CALLER"

// caller is such a program.
type caller struct {
	Contender string
	Seat      seat
	Job       job
}

// playCaller makes this process that program, if it was told to.
func playCaller() {
	text := os.Getenv(callerVariable)
	if text == "" {
		return
	}
	var c caller
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	i := slices.IndexFunc(contenders, func(one contender) bool { return one.name == c.Contender })
	o := contenders[i].inside(c.Seat, c.Job)
	o.Peak = peak("self")
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		panic(err)
	}
	os.Exit(0)
}

func inNewProcess(t *testing.T, c caller) (o outcome) {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), callerVariable+"="+string(text))
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	require.NoError(t, json.Unmarshal(out, &o))
	return o
}
