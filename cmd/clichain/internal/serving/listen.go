package serving

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/loopback"
	"github.com/clichain/clichain/cmd/clichain/internal/owner"
)

// address is an address that only this machine can reach.
type address struct{ network, where string }

// parseListen parses HOST:PORT with a loopback host, or unix:PATH.
func parseListen(text string) (address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok && path != "" {
		return address{"unix", path}, nil
	}
	where, err := loopback.Parse(text)
	if err != nil {
		return address{}, errors.New("write an address of this machine alone, such as 127.0.0.1:8484 or unix:/run/user/1/s")
	}
	return address{"tcp", where}, nil
}

// open listens. Only this user can connect to a socket. It replaces the socket of a dead process.
func (l address) open(ctx context.Context) (net.Listener, error) {
	if l.network == "unix" {
		err := l.checkDir()
		if err == nil {
			err = l.tidy(ctx)
		}
		if err != nil {
			return nil, console.Usagef("--listen: %v", err)
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, l.network, l.where)
	if err != nil {
		return nil, console.Usagef("--listen: %v", err)
	}
	switch at := listener.Addr().(type) {
	case *net.UnixAddr:
		err = os.Chmod(l.where, 0o600)
	case *net.TCPAddr:
		if !at.IP.IsLoopback() { // /etc/hosts may name another address
			err = errors.New(l.where + " is not an address of this machine alone: use 127.0.0.1")
		}
	}
	if err != nil {
		_ = listener.Close()
		return nil, console.Usagef("--listen: %v", err)
	}
	return listener, nil
}

// checkDir rejects a directory in which another user could create the socket and receive what clients send, such as
// their token.
func (l address) checkDir() error {
	dir, err := filepath.Abs(filepath.Dir(l.where))
	if err != nil {
		return err
	}
	if err := owner.CheckDir(dir); err != nil {
		return err
	}
	return owner.CheckPath(dir)
}

// knockLimit limits the check whether a process listens on a socket.
const knockLimit = 2 * time.Second

// tidy removes a socket on which no process listens.
func (l address) tidy(ctx context.Context) error {
	info, err := os.Lstat(l.where)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New(l.where + " is there already, and is no socket")
	}
	if err := owner.Check(l.where, info); err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: knockLimit}
	if c, err := dialer.DialContext(ctx, l.network, l.where); err == nil {
		_ = c.Close()
		return errors.New(l.where + ": somebody listens there already")
	}
	return os.Remove(l.where)
}
