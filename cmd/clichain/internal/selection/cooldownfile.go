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

// Cooldowns is the file through which the calls of this user share the cooldowns of their backends, or nil.
func (r *Resolver) Cooldowns() cooldown.Store {
	file, _ := r.CooldownFile() // a mistake has been told before
	if file == nil {
		return nil
	}
	return file
}

// CooldownFile is nil where there is none.
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
		// A place that cannot be written to is usual in sandboxes, and not worth a warning.
		if _, usual := errors.AsType[*fs.PathError](err); !usual {
			fmt.Fprintf(r.Err, "clichain: warning: %s\n", terminal.OneLine(err.Error()))
		}
	}), nil
}

// DefaultCooldowns is the file without a setting; empty on a machine without a home.
func DefaultCooldowns() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "clichain", "cooldowns.json")
}
