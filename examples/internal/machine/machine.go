// Package machine simulates a machine for the tests of the examples: its CLIs are fakes, its home directory is empty,
// and the state of the real machine is hidden.
package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/clitest/fake"
)

// keys are credentials: a chain skips a fake without a login instead of starting it.
var keys = []string{"ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY"}

// New makes this process see a machine on which only git and these programs are installed, each program with an API
// key. restore undoes that. Use New in tests that do not run in parallel, including calls of [fake.Main]. It panics on
// error.
func New(programs map[string]fake.Scenario) (restore func()) {
	before := os.Environ()
	dir, err := os.MkdirTemp("", "clichain-example-")
	must(err)
	bin := filepath.Join(dir, "bin")
	must(os.Mkdir(bin, 0o700))
	for name, scenario := range programs {
		_, err := fake.Install(bin, name, scenario)
		must(err)
	}
	if git, err := exec.LookPath("git"); err == nil {
		must(os.Symlink(git, filepath.Join(bin, filepath.Base(git))))
	}
	set := []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir, "XDG_CACHE_HOME=" + dir, "PATH=" + bin}
	for _, key := range keys {
		set = append(set, key+"=of-a-test")
	}
	for _, variable := range before {
		if strings.HasPrefix(variable, "GO") || strings.HasPrefix(variable, "TMPDIR=") {
			set = append(set, variable)
		}
	}
	become(set)
	return func() {
		become(before)
		must(os.RemoveAll(dir))
	}
}

// become replaces the environment of this process.
func become(environ []string) {
	os.Clearenv()
	for _, variable := range environ {
		if name, value, _ := strings.Cut(variable, "="); name != "" {
			must(os.Setenv(name, value))
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
