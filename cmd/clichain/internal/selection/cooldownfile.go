package selection

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/cooldown"
)

import (
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Cooldowns returns the file of this user's cooldowns, or nil.
func (r *Resolver) Cooldowns() cooldown.Store {
	file, _ := r.CooldownFile() // an earlier step reports the error
	if file == nil {
		return nil
	}
	return file
}

// CooldownFile returns the file of this user's cooldowns, or nil if cooldowns are off.
func (r *Resolver) CooldownFile() (*cooldown.File, error) {
	s, err := r.Settings()
	if err != nil {
		return nil, err
	}
	path := cmp.Or(s.Cooldowns, DefaultCooldowns())
	if path == "" || path == "off" {
		return nil, nil
	}
	return cooldown.NewFile(path, func(err error) {
		// In a sandbox the file is often not writable, which needs no warning.
		if _, usual := errors.AsType[*fs.PathError](err); !usual {
			fmt.Fprintf(r.Err, "clichain: warning: %s\n", terminal.OneLine(err.Error()))
		}
	}), nil
}

// DefaultCooldowns returns the default file, or "" without a home directory.
func DefaultCooldowns() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "clichain", "cooldowns.json")
}
