package confine

import (
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/landlock"
)

const (
	readOnly = landlock.Read
	run      = landlock.Read | landlock.Execute
	change   = landlock.Read | landlock.Write
	all      = run | landlock.Write
)

// Row grants rights on one or more paths. 0 grants nothing at the level.
type Row struct {
	// Path is in the form of clispec.FileFact.Path, or a name in braces for the paths of a call.
	Path              string
	None, Read, Write landlock.Access // rights at each access level
	Why               string

	find  func(p *plan) []string // the paths of a name in braces
	grant func(p *plan, path string, access landlock.Access)
}

func (r Row) at(access call.Access) landlock.Access {
	switch access {
	case call.AccessNone:
		return r.None
	case call.AccessRead:
		return r.Read
	case call.AccessWrite:
		return r.Write
	}
	return 0
}

func (r Row) paths(p *plan) []string {
	if r.find != nil {
		return r.find(p)
	}
	return expand(r.Path, p.place)
}

// Table returns the rows from which [Rules] computes the rules of a call.
func Table() []Row { return slices.Clone(rows) }

var (
	whole = (*plan).grantWhole
	named = (*plan).grantNamed
	found = (*plan).grantFound
)

var rows = slices.Concat(systemRows(), []Row{
	{
		"{program}", run, run, run, "the installation of the CLI and of its interpreter, also below /opt or in /nix/store",
		(*plan).installation, named,
	},
	{
		"{mcp servers}", run, run, run, "the programs of the MCP servers of the request, and the files in their arguments",
		(*plan).servers, found,
	},
	{"{temp}", change, change, all, "a private temporary directory of the call", temp, grantTemp},
	{
		"{state}", change, all, all, "login, settings and sessions of the CLI; some CLIs also keep search programs there",
		(*plan).state, whole,
	},
	{"{login}", readOnly, readOnly, readOnly, "further files that a login of the CLI needs", (*plan).loginFiles, named},
	{
		"{login caches}", change, change, change, "tokens that the login of a CLI renews", (*plan).loginCaches, named,
	},
	{"{images}", readOnly, readOnly, readOnly, "images of the request", images, found},
	{"{dir}", readOnly, 0, 0, "the empty directory of a call without access", dir, grantEmpty},
	{"{dir}", 0, readOnly, all, "the working directory", dir, (*plan).grantDir},
	{"{add_dirs}", 0, readOnly, all, "further directories of the request", addDirs, (*plan).grantDir},
	{
		"{git}", 0, readOnly, change, "git's directories of the repository, and for reading the objects that it borrows",
		dirs, (*plan).grantGit,
	},
	{
		"{git config}", 0, readOnly, readOnly, "git's configuration of the user, with the files that it includes",
		(*plan).gitConfig, found,
	},
	{"{caches}", 0, 0, all, "caches of package managers and compilers", (*plan).caches, found},
	{"~", 0, 0, run, "the home directory, without credentials and the state of other CLIs", nil, grantHome},
	{
		"/", 0, 0, run, "other directories, except those of other users, other disks, temporary files, devices and services",
		nil, grantRoot,
	},
	{"{read_paths}", run, run, run, "the read paths of the configuration", readPaths, named},
	{"{write_paths}", all, all, all, "the write paths of the configuration", writePaths, named},
})

// systemRows returns the rows of files that programs need on any system.
func systemRows() (rows []Row) {
	for _, group := range []struct {
		access landlock.Access
		why    string
		paths  []string
	}{
		{run, "programs, libraries and settings of the system", []string{
			"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc",
		}},
		{readOnly, "processes and hardware, as programs ask for them", []string{"/proc", "/sys"}},
		{readOnly, "name servers, because this file is often a link", []string{"/etc/resolv.conf"}},
		{readOnly, "random numbers and zeros", []string{"/dev/urandom", "/dev/random", "/dev/zero"}},
		{change, "the null device", []string{"/dev/null"}},
	} {
		for _, path := range group.paths {
			rows = append(rows, Row{path, group.access, group.access, group.access, group.why, nil, whole})
		}
	}
	return rows
}

// elsewhere lists the directories that the row of the root directory does not grant. They hold the homes of users,
// other disks, temporary files of other calls, and tokens of services, or other rows grant them.
var elsewhere = []string{
	"/home", "/root", "/mnt", "/media", "/tmp", "/var/tmp", "/run", "/var/run", "/dev", "/boot", "/proc", "/sys",
}

// Denial is a path that a call does not get with the directory that contains it.
type Denial struct {
	Path string // in the form of clispec.FileFact.Path, or a name in braces
	// Access lists the rights that are denied: reading and writing, or only writing.
	Access landlock.Access
	Why    string
}

// Denials returns the paths that [Rules] excepts from the working directory, the home directory and the caches. The
// configuration can grant each of them by its name, and so can the login of a CLI.
func Denials() []Denial {
	list := []Denial{{"{other state}", change, "login, settings and sessions of the other CLIs"}}
	for _, group := range denied {
		for _, path := range group.paths {
			list = append(list, Denial{path, group.access, group.why})
		}
	}
	return append(list, Denial{
		"{path}", landlock.Write, "directories on PATH, except below a working directory that is not in a hidden directory",
	})
}

var denied = []struct {
	access landlock.Access
	why    string
	paths  []string
}{
	{change, "keys and passwords", []string{
		"~/.ssh", "~/.gnupg", "~/.netrc", "~/.git-credentials", "~/.config/git/credentials", "~/.password-store",
		"~/.local/share/keyrings", "~/.vault-token", "~/.pgpass", "~/.my.cnf", "~/.config/op",
		"~/.config/sops", "~/.config/age",
	}},
	{change, "logins of clouds and registries", []string{
		"~/.aws", "~/.azure", "~/.config/gcloud", "~/.kube", "~/.docker/config.json", "~/.npmrc", "~/.pypirc",
		"~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.config/gh", "~/.config/hub",
		"~/.config/glab-cli", "~/.config/rclone", "~/.terraform.d/credentials.tfrc.json", "~/.config/composer/auth.json",
		"~/.config/containers/auth.json", "~/.local/share/uv/credentials", "~/.oci", "~/.s3cfg", "~/.boto",
		"~/.databrickscfg", "~/.huggingface", "~/.cache/huggingface/token", "~/.kaggle", "~/.pulumi/credentials.json",
		"~/.config/doctl", "~/.config/stripe", "~/.config/hcloud", "~/.fly", "~/.config/netlify",
		"~/.local/share/com.vercel.cli",
	}},
	{change, "browsers, messages and histories of shells", []string{
		"~/.mozilla", "~/.thunderbird", "~/.config/google-chrome", "~/.config/chromium", "~/.config/BraveSoftware",
		"~/.config/microsoft-edge", "~/.config/Slack", "~/.config/Signal", "~/.config/discord", "~/.var/app", "~/snap",
		"~/.bash_history", "~/.zsh_history",
	}},
	{change, "settings and records of clichain", []string{
		"${XDG_CACHE_HOME:-~/.cache}/clichain", "${XDG_STATE_HOME:-~/.local/state}/clichain",
		"${XDG_CONFIG_HOME:-~/.config}/clichain",
	}},
	{landlock.Write, "programs", []string{"~/bin", "~/.local/bin", "~/go/bin", "~/.cargo/bin"}},
	{landlock.Write, "files that act at the start of a shell, of a session or of git", []string{
		"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.profile", "~/.zshrc", "~/.zshenv",
		"~/.zprofile", "~/.zlogin", "~/.zlogout", "~/.inputrc", "~/.config/fish", "~/.config/environment.d",
		"~/.config/systemd", "~/.config/autostart", "~/.gitconfig", "~/.config/git",
	}},
}
