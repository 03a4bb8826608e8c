import { Annotations, Aspects } from 'aws-cdk-lib';
import { CfnSubscription } from 'aws-cdk-lib/aws-sns';
import type { OrderProcessing } from './order-processing.ts';

/** The id of the warning: `Annotations.of(orders).acknowledgeWarning('redress:alerts')` silences it. */
const warning = 'redress:alerts';

/**
 * Warns at synthesis if nothing in the app subscribes to `notifications` or to `alerts`. The check runs last, because subscriptions are
 * added after the construct of the system.
 */
export function watchSubscriptions(system: OrderProcessing): void {
  Aspects.of(system).add({
    visit(node) {
      if (
        node !== system ||
        system.node.root.node
          .findAll()
          .some((each) => isOfTopic(each, system.alerts.topicArn) || isOfTopic(each, system.notifications.topicArn))
      )
        return;
      Annotations.of(system).addWarningV2(
        warning,
        'Nothing in the app subscribes to `notifications` or `alerts`, so no person hears of blocked orders and alarms. Add a subscription for people: orders.notifications.addSubscription(new EmailSubscription(…)), and one for alarms: orders.alerts.addSubscription(…). If people subscribe by hand, acknowledge this warning.',
      );
    },
  });
}

const isOfTopic = (each: object, topicArn: string): boolean => each instanceof CfnSubscription && each.topicArn === topicArn;
