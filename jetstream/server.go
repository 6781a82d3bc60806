package jetstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/clichain/clichain/jetstream/internal/privatedir"
	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Server is a NATS server inside this process, without a socket, with its store in one directory. It acknowledges a
// write after the data is on the disk. Make it with [Embed]. It is safe for concurrent use.
type Server struct {
	inner *server.Server
	lock  *storeLock
}

// startLimit bounds the start of the server, which first reads a store that a crash may have left.
const startLimit = time.Minute

// Embed starts a server in this process with its store in dir. It creates a missing dir with the permissions 0700. If
// another process uses dir, Embed returns a [*LockedError], because two servers would destroy the store. Close the
// server after use.
func Embed(dir string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("jetstream: store directory %s: %w", dir, err)
	}
	if err := checkStoreDir(dir); err != nil {
		return nil, err
	}
	if err := privatedir.Make(dir); err != nil {
		return nil, fmt.Errorf("jetstream: store directory %s: %w", dir, err)
	}
	lock, err := lockStore(dir)
	if err != nil {
		return nil, err
	}
	inner, err := start(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("jetstream: store directory %s: %w", dir, err), lock.release())
	}
	return &Server{inner, lock}, nil
}

// checkStoreDir refuses a directory with other files than those of a store, because Embed changes its permissions and
// a user may later remove the whole store.
func checkStoreDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // it does not exist, or creating it reports the problem
	}
	for _, e := range entries {
		if !slices.Contains(storeFiles, e.Name()) {
			return fmt.Errorf("jetstream: store directory %s: it contains %s, which is no part of a store: "+
				"use an empty directory", dir, e.Name())
		}
	}
	return nil
}

// storeFiles are the entries of a store.
var storeFiles = []string{lockFile, lockFile + ".json", server.JetStreamStoreDir}

func start(dir string) (*server.Server, error) {
	inner, err := server.NewServer(&server.Options{
		ServerName: "clichain", DontListen: true, JetStream: true, StoreDir: dir, SyncAlways: true,
		NoSigs: true, NoLog: true, MaxPayload: maxMessage,
	})
	if err != nil {
		return nil, err
	}
	inner.Start()
	if !inner.ReadyForConnections(startLimit) || !inner.JetStreamEnabled() {
		inner.Shutdown()
		inner.WaitForShutdown()
		return nil, errors.New("the server did not start: is the disk full, or the directory read-only?")
	}
	return inner, nil
}

// maxMessage is the default limit of a server for one message.
const maxMessage = 1 << 20

// Connect connects to the server within this process. Close the connection before the server.
func (s *Server) Connect() (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(s.inner), nats.Name("clichain"), nats.MaxReconnects(-1),
		// By default the client prints errors to stderr. Every error that matters is also returned.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
}

// Close stops the server and releases its directory. When it returns, all writes are in the store.
func (s *Server) Close() error {
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
	return s.lock.release()
}

// LockedError is the error of Embed for a store directory that another process uses. It is a plain value.
type LockedError struct {
	Folder string
	// PID and Program identify the process that uses it. Zero: not known.
	PID     int
	Program string
}

// Error names the process and says what to do.
func (e *LockedError) Error() string {
	user := "another process"
	if e.PID != 0 {
		user = fmt.Sprintf("process %d (%s)", e.PID, e.Program)
	}
	return fmt.Sprintf("jetstream: the store directory %s is in use by %s: wait until it has ended, "+
		"or use another directory",
		e.Folder, user)
}

// holder is the content of the lock file: the process that holds the lock.
type holder struct {
	PID     int    `json:"pid"`
	Program string `json:"program"`
}

// storeLock is held while a server uses the directory. The system releases it when the process ends, even after a
// crash.
type storeLock struct{ file *flock.Flock }

const lockFile = "lock"

func lockStore(dir string) (*storeLock, error) {
	path := filepath.Join(dir, lockFile)
	lock := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("jetstream: cannot lock the store directory %s: %w", dir, err)
	}
	if !ok {
		var other holder
		if data, err := os.ReadFile(path + ".json"); err == nil {
			_ = json.Unmarshal(data, &other) // an incomplete file names no process
		}
		return nil, &LockedError{dir, other.PID, other.Program}
	}
	self, err := json.Marshal(holder{os.Getpid(), filepath.Base(os.Args[0])})
	if err == nil {
		err = os.WriteFile(path+".json", self, 0o600)
	}
	if err != nil {
		_ = lock.Unlock()
		return nil, fmt.Errorf("jetstream: cannot lock the store directory %s: %w", dir, err)
	}
	return &storeLock{lock}, nil
}

func (l *storeLock) release() error { return l.file.Unlock() }
