import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { SetupError } from '#ports/errors';

/** Limits for each IP address, in requests within five minutes, as AWS WAF counts them. */
export interface Firewall {
  /** Requests without a token. Default: 600. */
  readonly anonymousPerIp?: number;
  /** All requests. Several clients may share an address. Default: 30,000. */
  readonly requestsPerIp?: number;
}

export interface WebAclProps extends Firewall {
  readonly name: string;
  readonly stage: Stage;
}

const windowSeconds = 300;
/** The least and the most requests that WAF accepts as a limit. */
const rate = { min: 10, max: 2_000_000_000 };

/** The answer to a request above a limit, like that of the API itself. */
const refusal = JSON.stringify({
  title: 'Too many requests',
  status: 429,
  detail: 'Your address has sent too many requests. Send the request again after five minutes.',
});

/** The web ACL of the API: it refuses requests of an address above its limits before they reach API Gateway or a function. */
export class WebAcl extends Construct {
  readonly acl: CfnWebACL;

  constructor(scope: Construct, id: string, { name, stage, anonymousPerIp = 600, requestsPerIp = 30_000 }: WebAclProps) {
    super(scope, id);
    const visible = (metricName: string) => ({ cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false, metricName });
    const limit = (rule: string, priority: number, requests: number, scopeDownStatement?: CfnWebACL.StatementProperty) => ({
      name: rule,
      priority,
      statement: {
        rateBasedStatement: {
          aggregateKeyType: 'IP',
          limit: checked(rule, requests),
          evaluationWindowSec: windowSeconds,
          ...(scopeDownStatement ? { scopeDownStatement } : {}),
        },
      },
      action: {
        block: {
          customResponse: {
            responseCode: 429,
            customResponseBodyKey: 'refusal',
            responseHeaders: [{ name: 'Retry-After', value: String(windowSeconds) }],
          },
        },
      },
      visibilityConfig: visible(`${name}-${rule}`),
    });
    this.acl = new CfnWebACL(this, 'Acl', {
      name,
      scope: 'REGIONAL',
      description: `Limits of the API of ${name} for each address`,
      defaultAction: { allow: {} },
      customResponseBodies: { refusal: { contentType: 'APPLICATION_JSON', content: refusal } },
      rules: [limit('anonymousPerIp', 0, anonymousPerIp, withoutToken), limit('requestsPerIp', 1, requestsPerIp)],
      visibilityConfig: visible(name),
    });
    new CfnWebACLAssociation(this, 'OfStage', { resourceArn: stage.stageArn, webAclArn: this.acl.attrArn });
  }
}

/** A request without a token. WAF does not match a header that is absent, so the statement negates a match of a header of any size. */
const withoutToken: CfnWebACL.StatementProperty = {
  notStatement: {
    statement: {
      sizeConstraintStatement: {
        fieldToMatch: { singleHeader: { Name: 'authorization' } },
        comparisonOperator: 'GE',
        size: 1,
        textTransformations: [{ priority: 0, type: 'NONE' }],
      },
    },
  },
};

function checked(rule: string, requests: number): number {
  if (Number.isInteger(requests) && requests >= rate.min && requests <= rate.max) return requests;
  throw new SetupError(
    `Invalid firewall.${rule} ${requests}: expected a whole number from ${rate.min} to ${rate.max} requests in five minutes.`,
    'Correct `firewall` of OrderProcessing.',
  );
}
