package jetstream

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/clichain/clichain/jetstream/internal/privatedir"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Server is a NATS server inside this process, without a socket, whose store is one folder. What it acknowledges is
// on the disk. Make it with [Embed]. It is safe for concurrent use.
type Server struct {
	inner *server.Server
	lock  *storeLock
}

// startLimit bounds the start of the server: a store that was left by a crash is read first.
const startLimit = time.Minute

// Embed starts a server in this process with its store in dir. It creates dir with the permissions 0700 where it does
// not exist. It refuses a directory that another process uses with a [*LockedError]: two servers on one store destroy
// it. Close the server after use.
func Embed(dir string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("jetstream: store folder %s: %w", dir, err)
	}
	if err := checkStoreDir(dir); err != nil {
		return nil, err
	}
	if err := privatedir.Make(dir); err != nil {
		return nil, fmt.Errorf("jetstream: store folder %s: %w", dir, err)
	}
	lock, err := lockStore(dir)
	if err != nil {
		return nil, err
	}
	inner, err := start(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("jetstream: store folder %s: %w", dir, err), lock.release())
	}
	return &Server{inner, lock}, nil
}

// checkStoreDir refuses a directory that holds other files than those of a store: Embed changes its permissions, and
// a user may remove a store that is used up.
func checkStoreDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there is none yet, or making it says what is wrong
	}
	for _, e := range entries {
		if !slices.Contains(storeFiles, e.Name()) {
			return fmt.Errorf("jetstream: store folder %s: it holds %s, which is not of a store: use a folder of its own",
				dir, e.Name())
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
		return nil, errors.New("the server did not start: is the disk full, or the folder not writable?")
	}
	return inner, nil
}

// maxMessage is what a server takes by default, here and on a cluster.
const maxMessage = 1 << 20

// Connect makes a connection within this process. Close it before the server.
func (s *Server) Connect() (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(s.inner), nats.Name("clichain"), nats.MaxReconnects(-1),
		// By default it prints to stderr; every error that matters is returned, too.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
}

// Close stops the server and releases its directory. It returns when all that it wrote is in the store.
func (s *Server) Close() error {
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
	return s.lock.release()
}
