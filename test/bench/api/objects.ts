// The objects the API bench writes: a ConfigMap with 1 KiB of data and a Pod of about 3 KiB that no scheduler takes.

export const configMap = (name: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: { payload: "x".repeat(1024) },
  });

export const pod = (name: string, index = 0): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: {
        app: `app-${index % 20}`,
        tier: "backend",
        "app.kubernetes.io/instance": `instance-${index % 50}`,
      },
      annotations: {
        "example.com/description":
          "never scheduled; a payload for lists and watches".repeat(4),
      },
    },
    spec: {
      schedulerName: "none",
      terminationGracePeriodSeconds: 0,
      nodeSelector: { "kubernetes.io/os": "linux" },
      containers: [
        {
          name: "app",
          image: "registry.example.com/team/app:v1.2.3",
          ports: [
            { name: "http", containerPort: 8080 },
            { name: "metrics", containerPort: 9090 },
          ],
          env: [
            { name: "LOG_LEVEL", value: "info" },
            {
              name: "POD_NAME",
              valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
            },
          ],
          resources: {
            requests: { cpu: "100m", memory: "128Mi" },
            limits: { cpu: "500m", memory: "256Mi" },
          },
          readinessProbe: {
            httpGet: { path: "/ready", port: 8080 },
            periodSeconds: 10,
          },
          volumeMounts: [{ name: "config", mountPath: "/etc/app" }],
        },
      ],
      volumes: [{ name: "config", configMap: { name: "app-config" } }],
    },
  });
