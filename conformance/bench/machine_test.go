package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
)

// machine describes the machine at the start of a run.
type machine struct {
	began time.Time
	date  string
	cores int
	gb    int
	load  string // load average of the last minute
}

func machineNow(t *testing.T) machine {
	t.Helper()
	now := time.Now()
	m := machine{began: now, date: now.Format(time.DateOnly), cores: runtime.NumCPU()}
	text, err := os.ReadFile("/proc/meminfo")
	require.NoError(t, err)
	_, err = fmt.Sscanf(string(text), "MemTotal: %d kB", &m.gb)
	require.NoError(t, err)
	m.gb = (m.gb + 1<<19) >> 20
	text, err = os.ReadFile("/proc/loadavg")
	require.NoError(t, err)
	m.load = strings.Fields(string(text))[0]
	return m
}

func (m machine) String() string {
	return fmt.Sprintf("on a machine with %d cores and %d GB, %s/%s, load average %s before the run",
		m.cores, m.gb, runtime.GOOS, runtime.GOARCH, m.load)
}

// versions returns a line with the versions of the CLIs and a table of the contenders.
func versions(t *testing.T) string {
	t.Helper()
	_, node := home.Peer(t, acpxName)
	out, err := exec.Command(node, "--version").Output()
	require.NoError(t, err)
	text := fmt.Sprintf("claude %s, codex %s, %s, and Node.js %s.\n", home.Newest(t, home.Claude).Version(t),
		home.Newest(t, home.Codex).Version(t), runtime.Version(), strings.TrimSpace(string(out)))
	text += "\n## The contenders\n\n| Contender | Use | Version |\n|---|---|---|\n"
	for _, c := range contenders {
		version := c.version(t)
		if c.name == clichainName {
			version = "of this checkout"
		}
		text += fmt.Sprintf("| %s | %s | %s |\n", c.name, c.how, version)
	}
	return text
}
