package clitest

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(isolated(m))
}

// isolated runs the tests without the settings and the state of this machine, which an Example cannot hide itself.
func isolated(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "clitest")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, value := range map[string]string{"XDG_STATE_HOME": dir, "SKIP_CLI": "", "CLICHAIN_SKIP": ""} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
