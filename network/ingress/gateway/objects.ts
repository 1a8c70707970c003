// The objects of the Gateway API (gateway.networking.k8s.io/v1) as far as they are read and written here. Their definitions
// are installed by users; what the API server stores has passed the definitions' schemas.
import type { KubeObject } from "../../../api/object.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import type { ResourceRef } from "../../../client/client.ts";

export const gatewayGroup = "gateway.networking.k8s.io";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

export interface GatewayClass extends KubeObject {
  spec: {
    controllerName: string;
    parametersRef?: { group: string; kind: string; name: string };
  };
  status?: { conditions?: Condition[] };
}

interface ObjectRef {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface GatewayListener {
  readonly name: string;
  readonly hostname?: string;
  readonly port: number;
  readonly protocol: string;
  readonly tls?: {
    readonly mode?: string;
    readonly certificateRefs?: readonly ObjectRef[];
    readonly options?: Readonly<Record<string, string>>;
    readonly frontendValidation?: object;
  };
  readonly allowedRoutes?: {
    readonly namespaces?: {
      readonly from?: string;
      readonly selector?: LabelSelector;
    };
    readonly kinds?: readonly { group?: string; kind: string }[];
  };
}

interface ListenerStatus {
  readonly name: string;
  readonly supportedKinds: readonly { group: string; kind: string }[];
  readonly attachedRoutes: number;
  readonly conditions: readonly Condition[];
}

export interface Gateway extends KubeObject {
  spec: {
    gatewayClassName: string;
    listeners: readonly GatewayListener[];
    addresses?: readonly { type?: string; value?: string }[];
    infrastructure?: { parametersRef?: object };
    tls?: object;
  };
  status?: {
    addresses?: readonly { type?: string; value: string }[];
    conditions?: readonly Condition[];
    listeners?: readonly ListenerStatus[];
  };
}

export interface ParentRef extends ObjectRef {
  readonly sectionName?: string;
  readonly port?: number;
}

interface HeaderModifier {
  readonly set?: readonly { name: string; value: string }[];
  readonly add?: readonly { name: string; value: string }[];
  readonly remove?: readonly string[];
}

export interface PathModifier {
  readonly type: string;
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

export interface RouteFilter {
  readonly type: string;
  readonly requestHeaderModifier?: HeaderModifier;
  readonly responseHeaderModifier?: HeaderModifier;
  readonly requestRedirect?: {
    readonly scheme?: string;
    readonly hostname?: string;
    readonly path?: PathModifier;
    readonly port?: number;
    readonly statusCode?: number;
  };
  readonly urlRewrite?: {
    readonly hostname?: string;
    readonly path?: PathModifier;
  };
  readonly requestMirror?: {
    readonly backendRef: BackendRef;
    readonly percent?: number;
    readonly fraction?: { numerator: number; denominator?: number };
  };
  readonly cors?: {
    readonly allowOrigins?: readonly string[];
    readonly allowMethods?: readonly string[];
    readonly allowHeaders?: readonly string[];
    readonly exposeHeaders?: readonly string[];
    readonly allowCredentials?: boolean;
    readonly maxAge?: number;
  };
}

export interface BackendRef extends ObjectRef {
  readonly port?: number;
  readonly weight?: number;
  readonly filters?: readonly RouteFilter[];
}

export interface ValueMatchSpec {
  readonly type?: string;
  readonly name: string;
  readonly value: string;
}

export interface HttpRouteRule {
  readonly matches?: readonly {
    readonly path?: { readonly type?: string; readonly value?: string };
    readonly headers?: readonly ValueMatchSpec[];
    readonly queryParams?: readonly ValueMatchSpec[];
    readonly method?: string;
  }[];
  readonly filters?: readonly RouteFilter[];
  readonly backendRefs?: readonly BackendRef[];
  readonly timeouts?: { request?: string; backendRequest?: string };
  readonly retry?: object;
  readonly sessionPersistence?: object;
}

interface ParentStatus {
  readonly parentRef: ParentRef;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export interface HttpRoute extends KubeObject {
  spec: {
    readonly parentRefs?: readonly ParentRef[];
    readonly hostnames?: readonly string[];
    readonly rules?: readonly HttpRouteRule[];
  };
  status?: { parents?: readonly ParentStatus[] };
}

export interface ReferenceGrant extends KubeObject {
  spec: {
    readonly from: readonly {
      group: string;
      kind: string;
      namespace: string;
    }[];
    readonly to: readonly { group: string; kind: string; name?: string }[];
  };
}

function ref<T extends KubeObject>(
  resource: string,
  kind: string,
  namespaced: boolean,
  version = "v1",
): ResourceRef<T> {
  return { group: gatewayGroup, version, resource, kind, namespaced };
}

export const gatewayClasses = ref<GatewayClass>(
  "gatewayclasses",
  "GatewayClass",
  false,
);
export const gateways = ref<Gateway>("gateways", "Gateway", true);
export const httpRoutes = ref<HttpRoute>("httproutes", "HTTPRoute", true);

/** v1beta1 where the definitions are of before v1 had it. */
export function referenceGrants(version: string): ResourceRef<ReferenceGrant> {
  return ref("referencegrants", "ReferenceGrant", true, version);
}
