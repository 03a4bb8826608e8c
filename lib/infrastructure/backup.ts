import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault, type IBackupVault } from 'aws-cdk-lib/aws-backup';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';

/** Daily copies of the table in a vault. */
export interface BackupSettings {
  /** The time for which a copy is kept. Default: 35 days. */
  readonly keep?: Duration;
  /** The hour of the day, in UTC. Default: 3. */
  readonly hour?: number;
  /** A vault in another account or region that gets each copy too. It must allow this account to copy into it. */
  readonly copyTo?: IBackupVault;
}

export interface TableBackupProps extends BackupSettings {
  readonly table: TableV2;
  readonly key: IKey;
  readonly removalPolicy: RemovalPolicy;
}

/** The vault of the table's copies, and the plan that makes them. */
export class TableBackup extends Construct {
  readonly vault: BackupVault;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: TableBackupProps) {
    super(scope, id);
    const { table, key, removalPolicy, keep = Duration.days(35), hour = 3, copyTo } = props;
    this.vault = new BackupVault(this, 'Vault', { encryptionKey: key, removalPolicy, blockRecoveryPointDeletion: true });
    const plan = new BackupPlan(this, 'Plan', {
      backupVault: this.vault,
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: 'daily',
          scheduleExpression: Schedule.cron({ hour: String(hour), minute: '0' }),
          startWindow: Duration.hours(1),
          completionWindow: Duration.hours(12),
          deleteAfter: keep,
          ...(copyTo ? { copyActions: [{ destinationBackupVault: copyTo, deleteAfter: keep }] } : {}),
        }),
      ],
    });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('backup.amazonaws.com'),
      description: 'Copies the table of Redress',
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSBackupServiceRolePolicyForBackup')],
    });
    plan.addSelection('Table', { resources: [BackupResource.fromArn(table.tableArn)], role: this.role, disableDefaultBackupPolicy: true });
  }
}
