// Package deploy_test checks the files of the directory deploy that need large dependencies or a container engine.
package deploy_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// manifest is the content of deploy/kubernetes/worker.yaml.
type manifest struct {
	claim  core.PersistentVolumeClaim
	worker apps.Deployment
	policy networking.NetworkPolicy
}

// load decodes the manifest as the server of Kubernetes does: a field that it does not know is an error.
func load(t *testing.T) *manifest {
	t.Helper()
	data, err := os.ReadFile("../../deploy/kubernetes/worker.yaml")
	require.NoError(t, err)
	m := new(manifest)
	kinds := map[string]any{
		"v1 PersistentVolumeClaim": &m.claim, "apps/v1 Deployment": &m.worker, "networking.k8s.io/v1 NetworkPolicy": &m.policy,
	}
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		var about struct{ APIVersion, Kind string }
		require.NoError(t, yaml.Unmarshal(document, &about))
		kind := about.APIVersion + " " + about.Kind
		require.Contains(t, kinds, kind)
		require.NoError(t, yaml.UnmarshalStrict(document, kinds[kind]), kind)
		delete(kinds, kind)
	}
	require.Empty(t, kinds)
	return m
}

func TestManifestIsConsistent(t *testing.T) {
	m := load(t)
	labels := m.worker.Spec.Template.Labels
	require.NotEmpty(t, labels)
	require.Equal(t, labels, m.worker.Spec.Selector.MatchLabels)
	require.Equal(t, labels, m.policy.Spec.PodSelector.MatchLabels)
	spec := m.worker.Spec.Template.Spec
	worker := spec.Containers[0]
	port := worker.Ports[0]
	require.Equal(t, port.Name, worker.LivenessProbe.HTTPGet.Port.StrVal)
	require.Equal(t, port.Name, worker.ReadinessProbe.HTTPGet.Port.StrVal)
	require.Equal(t, port.Name, m.policy.Spec.Ingress[0].Ports[0].Port.StrVal)
	require.Contains(t, strings.Join(worker.Args, " "), "--metrics-address 0.0.0.0:9464")
	require.EqualValues(t, 9464, port.ContainerPort)

	volumes := map[string]core.Volume{}
	for _, v := range spec.Volumes {
		volumes[v.Name] = v
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		for _, mount := range c.VolumeMounts {
			require.Contains(t, volumes, mount.Name, c.Name)
		}
	}
	require.Equal(t, m.claim.Name, volumes["home"].PersistentVolumeClaim.ClaimName)
	require.EqualValues(t, 0o640, *volumes["login"].Secret.DefaultMode)
}

// The pod fulfills the profile "restricted" of Kubernetes, has no token of the cluster, and two pods never use one login.
func TestManifestIsRestricted(t *testing.T) {
	m := load(t)
	require.EqualValues(t, 1, *m.worker.Spec.Replicas)
	require.Equal(t, apps.RecreateDeploymentStrategyType, m.worker.Spec.Strategy.Type)
	spec := m.worker.Spec.Template.Spec
	require.False(t, *spec.AutomountServiceAccountToken)
	require.True(t, *spec.SecurityContext.RunAsNonRoot)
	require.NotZero(t, *spec.SecurityContext.RunAsUser)
	require.Equal(t, core.SeccompProfileTypeRuntimeDefault, spec.SecurityContext.SeccompProfile.Type)
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, c.Name)
		require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
		require.Equal(t, []core.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop, c.Name)
		require.Empty(t, c.SecurityContext.Capabilities.Add, c.Name)
		require.NotEmpty(t, c.Resources.Limits, c.Name)
		require.NotEmpty(t, c.Resources.Requests, c.Name)
	}
}
