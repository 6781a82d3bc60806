// Package machine makes a machine for the tests of the examples: the CLIs on it are fakes, its home is empty, and
// nothing of the real one shows.
package machine

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/clitest/fake"
)

// keys are logins: a fake that nobody is logged in to would be skipped, and not started.
var keys = []string{"ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY"}

// New makes this process see a machine on which these programs are installed, each with a key of its own, and nothing
// else. The func that it returns puts the real one back. It is for tests that run one after the other, calls of
// [fake.Main] among them, and panics where it fails.
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
