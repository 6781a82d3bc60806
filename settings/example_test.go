package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain/settings"
)

// A profile overrides the general settings of the file.
func Example() {
	dir, err := os.MkdirTemp("", "settings")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "config.yaml")
	const text = "order: [claude, codex]\ntimeout: 90s\nprofiles:\n  ci: {timeout: 20s}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	file, err := settings.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	timeout := file.Timeout
	if ci := file.Profiles["ci"]; ci.Timeout > 0 {
		timeout = ci.Timeout
	}
	fmt.Println(file.Order, time.Duration(timeout))
	// Output: [claude codex] 20s
}
