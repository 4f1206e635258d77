{{/* Labels of every object; `name` is that of the program. */}}
{{- define "groundwire.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: groundwire
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "groundwire.image" -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "groundwire.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "groundwire.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Pods on different nodes where that is possible. */}}
{{- define "groundwire.spread" -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: { app.kubernetes.io/name: {{ . }} }
{{- end }}

{{/* The server's configuration file: the settings given, and what the chart decides itself. */}}
{{- define "groundwire.settings" -}}
{{- $decided := dict "listen" "0.0.0.0:50051" "metrics_listen" "0.0.0.0:9464" }}
{{- if .Values.tls.secret }}
{{- $_ := set $decided "tls_certificate" "/etc/groundwire-tls/tls.crt" }}
{{- $_ := set $decided "tls_key" "/etc/groundwire-tls/tls.key" }}
{{- if .Values.tls.clientCertificates }}
{{- $_ := set $decided "tls_client_ca" "/etc/groundwire-tls/ca.crt" }}
{{- end }}
{{- end }}
{{- toYaml (merge $decided .Values.settings) }}
{{- end }}

{{/* What servers and builds need to have their indexes in Milvus. */}}
{{- define "groundwire.milvusVariables" -}}
- { name: GROUNDWIRE_BACKEND, value: milvus }
- { name: GROUNDWIRE_MILVUS_URI, value: {{ .Values.milvus.uri | quote }} }
- { name: GROUNDWIRE_MILVUS_TOKEN_FILE, value: /etc/groundwire-milvus/token }
{{- end }}

{{- define "groundwire.milvusMount" -}}
- { name: milvus, mountPath: /etc/groundwire-milvus, readOnly: true }
{{- end }}

{{- define "groundwire.milvusVolume" -}}
- name: milvus
  secret: { secretName: {{ .Values.milvus.secret }}, defaultMode: 0440 }
{{- end }}

{{/* A container that brings versions from object storage into the volume of the servers. */}}
{{- define "groundwire.follow" -}}
- name: {{ .name }}
  image: {{ include "groundwire.image" (dict "root" .root "image" .root.Values.image) }}
  args:
    {{- $bound := printf "%.0f" (float64 .root.Values.follow.maxBytes) }}
    {{- $arguments := list "follow" .root.Values.follow.address "--data" "/data" "--max-bytes" $bound }}
    {{- range .root.Values.follow.repositories }}
    {{- $arguments = concat $arguments (list "--repository" .) }}
    {{- end }}
    {{- toYaml (concat $arguments .args) | nindent 4 }}
  {{- with .root.Values.env }}
  env: {{- toYaml . | nindent 4 }}
  {{- end }}
  resources: {{- toYaml .root.Values.follow.resources | nindent 4 }}
  securityContext: {{- include "groundwire.containerSecurity" . | nindent 4 }}
  volumeMounts:
    - { name: data, mountPath: /data }
    - { name: tmp, mountPath: /tmp }
    {{- with .root.Values.volumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{- define "groundwire.dataClaim" -}}
{{ .Values.data.existingClaim | default "groundwire-data" }}
{{- end }}

{{/* The cluster's DNS, as a rule of egress. */}}
{{- define "groundwire.dns" -}}
- to:
    - namespaceSelector:
        matchLabels: { kubernetes.io/metadata.name: kube-system }
      podSelector:
        matchLabels: { k8s-app: kube-dns }
  ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
{{- end }}

{{/* Pods that say they are callers, in the namespaces named: the label of a namespace is set by the API server. */}}
{{- define "groundwire.callers" -}}
- namespaceSelector:
    matchExpressions:
      - { key: kubernetes.io/metadata.name, operator: In, values: {{ toJson .Values.networkPolicy.callers }} }
  podSelector:
    matchLabels: { groundwire/caller: "true" }
{{- end }}

{{- define "groundwire.monitoring" -}}
- namespaceSelector:
    matchLabels: { kubernetes.io/metadata.name: {{ .Values.networkPolicy.monitoring }} }
{{- end }}
