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
	lock  *folderLock
}

// startLimit bounds the start of the server: a store that was left by a crash is read first.
const startLimit = time.Minute

// Embed starts a server in this process with its store in folder, which is made with the permissions 0700 where it is
// missing. A folder that another process uses is refused with a [*LockedError]: two servers on one store destroy it.
// The server must be closed.
func Embed(folder string) (*Server, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("jetstream: store folder %s: %w", folder, err)
	}
	if err := ours(folder); err != nil {
		return nil, err
	}
	if err := privatedir.Make(folder); err != nil {
		return nil, fmt.Errorf("jetstream: store folder %s: %w", folder, err)
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return nil, err
	}
	inner, err := start(folder)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("jetstream: store folder %s: %w", folder, err), lock.release())
	}
	return &Server{inner, lock}, nil
}

// ours refuses a folder that holds what no store does: its permissions are changed, and who uses up a store removes
// it.
func ours(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // there is none yet, or making it says what is wrong
	}
	for _, e := range entries {
		if !slices.Contains(storeFiles, e.Name()) {
			return fmt.Errorf("jetstream: store folder %s: it holds %s, which is not of a store: use a folder of its own",
				folder, e.Name())
		}
	}
	return nil
}

// storeFiles are what is in a store's folder.
var storeFiles = []string{lockFile, lockFile + ".json", server.JetStreamStoreDir}

func start(folder string) (*server.Server, error) {
	inner, err := server.NewServer(&server.Options{
		ServerName: "clichain", DontListen: true, JetStream: true, StoreDir: folder, SyncAlways: true,
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

// Close ends the server and lets others have the folder. It returns when all that it wrote is in the store.
func (s *Server) Close() error {
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
	return s.lock.release()
}
