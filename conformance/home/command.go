package home

import (
	"fmt"
	"os/exec"
)

// BuildCommand writes the clichain command to path. environ is the environment of the go command.
func BuildCommand(path string, environ []string) error {
	cmd := exec.Command("go", "build", "-o", path, "github.com/clichain/clichain/cmd/clichain")
	cmd.Env = environ
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the command: %w: %s", err, out)
	}
	return nil
}
